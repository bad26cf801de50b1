//! The system calls of the port; the only `unsafe` of `roce`.
//!
//! Every call hands the kernel pointers to values that outlive it, with their lengths; messages point into
//! arrays that are filled before the call and not moved until it has returned. No call blocks.

mod interface;
mod receive;
mod send;
mod udp;
mod unix;

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, cmsghdr, msghdr, socklen_t};

pub use interface::interface_mtu;
pub use receive::receive_many;
pub use send::send_many;
pub use udp::{UdpSocket, udp_socket};
pub use unix::{receive_unix, send_unix, unix_socket};

/// Room for the three integers of control data, or for credentials.
const CONTROL_BYTES: usize = 96;

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn socket(domain: c_int) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers. The descriptor that comes back is ours alone.
    unsafe {
        let raw = check(libc::socket(domain, kind, 0))?;
        Ok(OwnedFd::from_raw_fd(raw))
    }
}

fn set_option<T>(socket: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let length = mem::size_of::<T>() as socklen_t;
    // SAFETY: `value` is `length` bytes, and read during the call only; options that hold a pointer (the BPF program)
    // are set by callers to what outlives the call.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            length,
        )
    })?;
    Ok(())
}

/// The value of an option that is an integer.
fn option(socket: &OwnedFd, level: c_int, name: c_int) -> io::Result<c_int> {
    let mut value: c_int = 0;
    let mut length = mem::size_of::<c_int>() as socklen_t;
    // SAFETY: `value` is writable for `length`.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_mut(&mut value).cast(),
            &mut length,
        )
    })?;
    Ok(value)
}

/// Control data, aligned as its headers want.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

impl Control {
    const fn new() -> Control {
        Control([0; CONTROL_BYTES])
    }

    /// Lets the kernel write into it, as long as `header` is used.
    fn lend(&mut self, header: &mut msghdr) {
        header.msg_control = self.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL_BYTES;
    }

    /// Has the datagram divided into packets of this length.
    fn segment(&mut self, header: &mut msghdr, packet_bytes: u16) {
        self.lend(header);
        // SAFETY: the buffer is aligned and has room for one control message with two bytes.
        unsafe {
            let bytes = mem::size_of::<u16>() as u32;
            header.msg_controllen = libc::CMSG_SPACE(bytes) as usize;
            let message = libc::CMSG_FIRSTHDR(header);
            (*message).cmsg_level = libc::SOL_UDP;
            (*message).cmsg_type = libc::UDP_SEGMENT;
            (*message).cmsg_len = libc::CMSG_LEN(bytes) as usize;
            libc::CMSG_DATA(message)
                .cast::<u16>()
                .write_unaligned(packet_bytes);
        }
    }
}

/// The data of the control message of this kind, which the kernel wrote into the buffer of `header`.
fn control_data(header: &msghdr, level: c_int, kind: c_int) -> Option<*const u8> {
    // SAFETY: the kernel left `msg_control` and `msg_controllen` describing the messages it wrote, in a buffer that the
    // caller still borrows; the macros stay within it.
    unsafe {
        let mut at: *mut cmsghdr = libc::CMSG_FIRSTHDR(header);
        while !at.is_null() {
            if (*at).cmsg_level == level && (*at).cmsg_type == kind {
                return Some(libc::CMSG_DATA(at));
            }
            at = libc::CMSG_NXTHDR(header, at);
        }
    }
    None
}

pub fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getuid() }
}
