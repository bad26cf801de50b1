//! What the kernel offers beside sockets.
//!
//! Unsafe code calls the C library.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::Socket;

pub use weft_kernel::{Bell, Interest, Poller, Ticker};

/// An error of the system's; one about descriptors says how many there may be, and what raises that.
pub fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EMFILE) => io::Error::other(format!(
            "this process may have {} files and connections open at once and needs more (ulimit -n)",
            descriptor_limit()
        )),
        Some(libc::ENFILE) => io::Error::other(
            "this host has as many files and connections open as it may (sysctl fs.file-max)",
        ),
        _ => error,
    }
}

fn descriptor_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes the limit, which there always is.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur
}

/// Bytes that were written to a connection and that its other end's host has not confirmed.
pub fn unconfirmed(socket: &Socket) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: writes an int.
    let asked = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
    if asked == 0 { bytes.max(0) as usize } else { 0 }
}

/// How long ago the kernel last heard of a connection's other end, if it has no answer to something that it sent there.
pub fn unanswered(socket: &Socket) -> Option<Duration> {
    // SAFETY: numbers alone, of which zero is one.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut bytes = size_of_val(&info) as libc::socklen_t;
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: writes no more than `bytes` bytes of `info`; what an older kernel does not know stays zero.
    let asked = unsafe {
        let info = (&raw mut info).cast();
        libc::getsockopt(socket.as_raw_fd(), level, name, info, &mut bytes)
    };
    let waits = asked == 0 && (info.tcpi_unacked > 0 || info.tcpi_probes > 0);
    waits.then(|| Duration::from_millis(info.tcpi_last_ack_recv.into()))
}
