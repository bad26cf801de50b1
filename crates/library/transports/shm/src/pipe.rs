//! The pipe on which a process sleeps that waits for networks too: made by it, opened by those that wake it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use weft_kernel::above_standard;
use weft_sync::Pipe;

use crate::process::folder;

/// Where a process's pipe is, and by what to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeName {
    /// The process's number for it.
    pub number: u32,
    /// The number that no other pipe of the host has while this one is there.
    pub inode: u64,
}

/// Makes one.
pub fn create() -> io::Result<(Pipe, PipeName)> {
    let (_reader, writer) = above_standard(io::pipe)?;
    let file = open_both_ways(std::process::id(), writer.as_raw_fd() as u32)?;
    let name = PipeName {
        number: file.as_raw_fd() as u32,
        inode: file.metadata()?.ino(),
    };
    Ok((Pipe::new(file.into()), name))
}

/// Opens the pipe of process `pid`. It must be this user's, and the one that was named: a byte in another is a stranger's.
pub fn open(pid: u32, name: PipeName) -> Result<Pipe, String> {
    let failed = |error: io::Error| {
        format!(
            "the pipe by which it is woken, /proc/{pid}/fd/{}: {error}",
            name.number
        )
    };
    let file = open_both_ways(pid, name.number).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    // SAFETY: asks for a number.
    let user = unsafe { libc::geteuid() };
    let is_it = found.file_type().is_fifo() && found.ino() == name.inode && found.uid() == user;
    match is_it {
        true => Ok(Pipe::new(file.into())),
        false => Err(failed(io::Error::other(
            "it is not the one its card tells of",
        ))),
    }
}

/// For reading too: see [`Pipe::new`].
fn open_both_ways(pid: u32, number: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // The number may by now be of something that an open would wait for.
    options.custom_flags(libc::O_NONBLOCK);
    above_standard(|| options.open(format!("{}/fd/{number}", folder(pid))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn is_rung(pipe: &Pipe) -> bool {
        pipe.wait(Duration::ZERO, &[]).rung
    }

    #[test]
    fn the_pipe_that_is_named_is_rung() {
        let (pipe, name) = create().unwrap();
        let opened = open(std::process::id(), name).unwrap();
        assert!(!is_rung(&pipe));
        opened.ring();
        assert!(is_rung(&pipe));
        pipe.drain();
        assert!(!is_rung(&pipe));
    }

    /// A ring for a sleeper that is gone is no signal that ends this process.
    #[test]
    fn a_pipe_without_its_sleeper_takes_rings() {
        let (pipe, name) = create().unwrap();
        let opened = open(std::process::id(), name).unwrap();
        drop(pipe);
        opened.ring();
        assert!(is_rung(&opened));
    }

    #[test]
    fn anything_else_is_refused() {
        let pid = std::process::id();
        let (_pipe, name) = create().unwrap();
        let (_other, other) = create().unwrap();
        let file = File::open("/proc/self/stat").unwrap();
        let number = |number| PipeName { number, ..name };
        for wrong in [other.number, file.as_raw_fd() as u32, 999_999].map(number) {
            assert!(open(pid, wrong).is_err(), "{wrong:?}");
        }
        assert!(open(u32::MAX >> 1, name).is_err());
        let (_reader, writer) = io::pipe().unwrap();
        let theirs = number(writer.as_raw_fd() as u32);
        let why = open(pid, theirs).map(drop).unwrap_err();
        assert!(why.contains("not the one its card tells of"), "{why}");
    }
}
