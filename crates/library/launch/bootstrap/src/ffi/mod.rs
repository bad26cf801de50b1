//! The only module with `unsafe`: system calls that `std` does not offer.

pub mod pmix;

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use weft_kernel::Interest;

/// Takes over an inherited socket by its number and keeps it from this process's own children.
///
/// Only sockets are taken: the number may have been meant for a parent process, and be something else, or nothing, here.
pub fn adopt_socket(fd: RawFd) -> io::Result<OwnedFd> {
    let status = status(fd).ok_or_else(io::Error::last_os_error)?;
    if status.st_mode & libc::S_IFMT != libc::S_IFSOCK {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a socket"));
    }
    // SAFETY: plain system call on an open descriptor, without pointers.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and the launcher gave it to this process for the PMI client alone, of which there is
    // one (`connect` is called once per process): nobody else closes it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The state of an open file, by `fstat`; `None` where that fails.
fn status(fd: RawFd) -> Option<libc::stat> {
    // SAFETY: an all-zero `stat` is a valid value, and `fstat` writes at most that struct.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &mut status) == 0).then_some(status)
    }
}

/// Sends all of `bytes`, without SIGPIPE: the host program's handling of that signal is its own affair.
pub fn send_all(socket: &impl AsRawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: pointer and length are those of a live slice.
        let sent = unsafe {
            libc::send(
                socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        match usize::try_from(sent) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Whether a read would not wait, now or within `limit`: there is something, or an end, or an error. No, if a signal comes.
pub fn is_readable_within(socket: &impl AsRawFd, limit: Duration) -> bool {
    let milliseconds = c_int::try_from(limit.as_millis()).unwrap_or(c_int::MAX);
    weft_kernel::is_ready(socket, Interest::Reading, milliseconds)
}

/// The CPUs that this thread may run on, a bit each, up to the last one; empty where the kernel does not say.
pub fn affinity() -> Vec<u8> {
    // The kernel refuses a mask that is shorter than its own.
    for bytes in [128, 1 << 10, 1 << 13] {
        let mut mask = vec![0u8; bytes];
        // SAFETY: the kernel writes at most `bytes` bytes of the vector, which has that many.
        let status = unsafe { libc::sched_getaffinity(0, bytes, mask.as_mut_ptr().cast()) };
        if status == 0 {
            let used = mask.iter().rposition(|byte| *byte != 0);
            mask.truncate(used.map_or(0, |last| last + 1));
            return mask;
        }
    }
    Vec::new()
}

/// Has `run` called when this process ends by `exit` or by returning from `main`.
pub fn at_exit(run: extern "C" fn()) -> io::Result<()> {
    // SAFETY: registers a function that lives as long as the library, which is not unloaded.
    match unsafe { libc::atexit(run) } {
        0 => Ok(()),
        _ => Err(io::ErrorKind::OutOfMemory.into()),
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Writes out what the host program has printed with C stdio and not yet flushed.
pub fn flush_stdout() {
    // SAFETY: the C library's `stdout` is initialised before `main` and locks itself; a null stream would mean all streams.
    unsafe {
        libc::fflush(stdout);
    }
}

/// Waits until what was written to these descriptors has been read, where they are pipes or sockets, but no longer than
/// `limit`.
pub fn wait_until_read(written: &[RawFd], limit: Duration) {
    let deadline = Instant::now() + limit;
    let waits = || written.iter().any(|&fd| unread(fd) > 0);
    while waits() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// How many bytes wait in a pipe or socket for their reader; 0 for a file or terminal, which needs none.
fn unread(fd: RawFd) -> c_int {
    let Some(status) = status(fd) else { return 0 };
    let question = match status.st_mode & libc::S_IFMT {
        libc::S_IFIFO => libc::FIONREAD,
        libc::S_IFSOCK => libc::TIOCOUTQ,
        _ => return 0,
    };
    let mut bytes: c_int = 0;
    // SAFETY: both questions write one `int`.
    match unsafe { libc::ioctl(fd, question, &mut bytes) } {
        0 => bytes,
        _ => 0,
    }
}

/// Ends the process at once: exit handlers may wait for peers that will never answer.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: no preconditions.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    /// A process waits until what it has written is read, and no longer than the limit.
    fn waits_for_the_reader(mut writer: impl Write + AsRawFd, mut reader: impl Read + Send) {
        let fd = writer.as_raw_fd();
        let (soon, long) = (Duration::from_millis(20), Duration::from_secs(60));
        wait_until_read(&[fd], long);
        writer.write_all(b"why\n").unwrap();
        let begin = Instant::now();
        wait_until_read(&[fd], soon);
        assert!(begin.elapsed() >= soon, "nobody has read it");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(soon);
                reader.read_exact(&mut [0; 4]).unwrap();
            });
            wait_until_read(&[fd], long);
        });
        assert_eq!(unread(fd), 0);
    }

    #[test]
    fn a_pipe_and_a_socket_are_waited_for() {
        let (reader, writer) = io::pipe().unwrap();
        waits_for_the_reader(writer, reader);
        let (reader, writer) = UnixStream::pair().unwrap();
        waits_for_the_reader(writer, reader);
    }

    #[test]
    fn a_file_and_a_closed_descriptor_are_not_waited_for() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(unread(file.as_raw_fd()), 0);
        assert_eq!(unread(-1), 0);
    }
}
