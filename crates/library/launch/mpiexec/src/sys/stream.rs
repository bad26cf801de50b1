//! mpiexec's own output and error, written without waiting for who reads them: a reader that has stopped reading must not keep
//! mpiexec from its signals.

use super::send;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::Duration;
use weft_kernel::{Interest, is_ready};

pub struct OwnStream {
    file: File,
    is_socket: bool,
}

impl OwnStream {
    /// A pipe or a terminal is opened anew: whether writes wait is a property of an open file, and the one that mpiexec was
    /// started with is its starter's and the ranks', too. Where it may not be opened anew (by another user), a write that
    /// others fill up just before may wait.
    pub fn new(stream: &(impl AsFd + AsRawFd)) -> io::Result<OwnStream> {
        let path = format!("/proc/self/fd/{}", stream.as_raw_fd());
        let kind = std::fs::metadata(&path).map(|metadata| metadata.file_type());
        let is = |what: fn(&std::fs::FileType) -> bool| kind.as_ref().is_ok_and(what);
        let may_wait = is(FileTypeExt::is_fifo) || stream.as_fd().is_terminal();
        let anew = || {
            let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
            OpenOptions::new()
                .write(true)
                .custom_flags(flags)
                .open(&path)
        };
        Ok(OwnStream {
            is_socket: is(FileTypeExt::is_socket),
            file: match may_wait.then(anew) {
                Some(Ok(file)) => file,
                _ => File::from(stream.as_fd().try_clone_to_owned()?),
            },
        })
    }

    /// Writes what there is room for.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_socket {
            true => send(&self.file, bytes),
            false => (&self.file).write(bytes),
        }
    }

    /// Writes all of it, unless the reader takes nothing for that long: whether it has.
    pub fn write_all_within(&self, mut bytes: &[u8], patience: Duration) -> bool {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait_for_room(patience) {
                        return false;
                    }
                }
                // Nobody reads it any more, or the disk is full: waiting changes nothing.
                Err(_) => return true,
            }
        }
        true
    }

    fn wait_for_room(&self, patience: Duration) -> bool {
        is_ready(&self.file, Interest::Writing, patience.as_millis() as i32)
    }
}

impl AsRawFd for OwnStream {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}
