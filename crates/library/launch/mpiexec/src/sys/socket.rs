//! The sockets between mpiexec and its ranks.

use super::{Pid, check};
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A connected pair; what is received on the first carries the sender's process id, by the kernel's word.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    let on: libc::c_int = 1;
    // SAFETY: the array has room for two descriptors, which are new and ours; the option's value is a live `c_int`.
    unsafe {
        check(libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
            fds.as_mut_ptr(),
        ))?;
        let pair = (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1]));
        check(libc::setsockopt(
            fds[0],
            libc::SOL_SOCKET,
            libc::SO_PASSCRED,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        ))?;
        Ok(pair)
    }
}

/// Room for one control message with the sender's identity, aligned as control messages must be.
type Control = [u64; 8];

/// Reads what has arrived, without waiting: the number of bytes (zero at the end) and who sent them.
pub fn receive(fd: &impl AsRawFd, bytes: &mut [u8]) -> io::Result<(usize, Option<Pid>)> {
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut control = MaybeUninit::<Control>::uninit();
    // SAFETY: an all-zero `msghdr` is a valid value. The buffers it points to are live with the lengths given. The kernel
    // writes well-formed control messages within the buffer and sets the length that `CMSG_FIRSTHDR` reads; the payload of
    // SCM_CREDENTIALS is a `ucred`, copied without assuming its alignment.
    unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of::<Control>();
        let count = libc::recvmsg(
            fd.as_raw_fd(),
            &mut header,
            libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC,
        );
        if count < 0 {
            return Err(io::Error::last_os_error());
        }
        let message = libc::CMSG_FIRSTHDR(&header);
        let from = (!message.is_null()
            && (*message).cmsg_level == libc::SOL_SOCKET
            && (*message).cmsg_type == libc::SCM_CREDENTIALS)
            .then(|| {
                libc::CMSG_DATA(message)
                    .cast::<libc::ucred>()
                    .read_unaligned()
                    .pid
            });
        Ok((count as usize, from))
    }
}

/// Sends what fits, without waiting and without SIGPIPE.
pub fn send(fd: &impl AsRawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of a live slice.
    let count = unsafe {
        libc::send(
            fd.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}
