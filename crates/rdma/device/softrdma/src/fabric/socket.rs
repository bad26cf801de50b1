//! Unix sockets with names of the abstract kind: nothing in any file system, gone with their owner.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use weft_kernel::{Interest, above_standard};

use super::mapping::checked;

/// A socket's name.
#[derive(Clone, Copy)]
pub struct Address {
    raw: libc::sockaddr_un,
    length: libc::socklen_t,
}

impl Address {
    /// None if the name is too long.
    pub fn new(name: &str) -> Option<Address> {
        // SAFETY: all zeros is a valid `sockaddr_un`.
        let mut raw: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
        // The first byte stays 0, which makes it abstract (unix(7)).
        let place = raw.sun_path.get_mut(1..=name.len())?;
        for (byte, &message) in place.iter_mut().zip(name.as_bytes()) {
            *byte = message as libc::c_char;
        }
        let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
        Some(Address {
            raw,
            length: length as libc::socklen_t,
        })
    }

    fn raw(&self) -> *const libc::sockaddr {
        (&raw const self.raw).cast()
    }
}

/// A new socket of `kind` (`SOCK_DGRAM`, `SOCK_SEQPACKET`), perhaps with `SOCK_NONBLOCK`.
pub fn open(kind: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let create = || unsafe { libc::socket(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0) };
    let fd = above_standard(create);
    let fd = checked(fd)?;
    // SAFETY: the descriptor is fresh and this process's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub fn bind(socket: BorrowedFd<'_>, address: &Address) -> io::Result<()> {
    // SAFETY: the address is readable for its length.
    checked(unsafe { libc::bind(socket.as_raw_fd(), address.raw(), address.length) }).map(drop)
}

pub fn connect(socket: BorrowedFd<'_>, address: &Address) -> io::Result<()> {
    // SAFETY: as for `bind`.
    checked(unsafe { libc::connect(socket.as_raw_fd(), address.raw(), address.length) }).map(drop)
}

pub fn listen(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes numbers only.
    checked(unsafe { libc::listen(socket.as_raw_fd(), libc::SOMAXCONN) }).map(drop)
}

/// The next connection; none if there is none now.
pub fn accept(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let null = std::ptr::null_mut();
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: asks for no address.
    let accept = || unsafe { libc::accept4(socket.as_raw_fd(), null, std::ptr::null_mut(), flags) };
    let fd = above_standard(accept);
    let fd = checked(fd).ok()?;
    // SAFETY: the descriptor is fresh and this process's.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Process and user at the other end of a connection: who listened, for the side that connected.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<libc::ucred> {
    // SAFETY: all zeros is a valid `ucred`.
    let mut peer: libc::ucred = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` is writable for `length`.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    })?;
    Ok(peer)
}

/// Has each message to `socket` say who sent it.
pub fn ask_for_senders(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: `on` is readable for its size.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PASSCRED,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Waits until `socket` can be read.
pub fn wait(socket: BorrowedFd<'_>, timeout_ms: i32) -> bool {
    weft_kernel::is_ready(&socket, Interest::Reading, timeout_ms)
}

/// Whether the other end is gone.
pub fn hung_up(socket: BorrowedFd<'_>) -> bool {
    let mut poll = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: 0,
        revents: 0,
    };
    // SAFETY: `poll` is one writable entry.
    unsafe { libc::poll(&mut poll, 1, 0) };
    poll.revents & (libc::POLLHUP | libc::POLLERR) != 0
}

pub fn set_nonblocking(socket: BorrowedFd<'_>) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    // SAFETY: take numbers only.
    unsafe {
        let flags = checked(libc::fcntl(fd, libc::F_GETFL))?;
        checked(libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)).map(drop)
    }
}

/// Receives the bytes of a message, and lets a descriptor that comes along go without opening it.
pub fn receive_bytes(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Option<usize> {
    let (data, length) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: `buffer` is writable for its length.
    let got = unsafe { libc::recv(socket.as_raw_fd(), data, length, libc::MSG_DONTWAIT) };
    usize::try_from(got).ok()
}

/// Room for what goes along with a message: a descriptor and the sender's credentials.
#[repr(C, align(8))]
struct Ancillary([u8; 128]);

/// Sends a message without waiting, with a descriptor along, to `to` or, on a connected socket, to the other end.
pub fn send(
    socket: BorrowedFd<'_>,
    to: Option<&Address>,
    bytes: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut piece = libc::iovec {
        iov_base: bytes.as_ptr() as *mut libc::c_void,
        iov_len: bytes.len(),
    };
    let mut ancillary = Ancillary([0; 128]);
    // SAFETY: all zeros is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut piece;
    message.msg_iovlen = 1;
    if let Some(to) = to {
        message.msg_name = to.raw() as *mut libc::c_void;
        message.msg_namelen = to.length;
    }
    if let Some(descriptor) = descriptor {
        message.msg_control = ancillary.0.as_mut_ptr().cast();
        let fd: RawFd = descriptor.as_raw_fd();
        // SAFETY: the room is aligned and larger than one header with one descriptor.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        }
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: all that the message names is readable.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &message, flags) };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A message.
pub struct Message {
    pub bytes: usize,
    /// The user that sent it, if the socket asks for senders.
    pub user: Option<u32>,
    pub descriptor: Option<OwnedFd>,
}

/// Receives a message into `buffer`; waits for one unless the socket is non-blocking.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Message> {
    let mut piece = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let mut ancillary = Ancillary([0; 128]);
    // SAFETY: all zeros is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut piece;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.0.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&ancillary.0) as _;
    let flags = libc::MSG_CMSG_CLOEXEC;
    // SAFETY: all that the message names is writable.
    let receive = || unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, flags) };
    let got = above_standard(receive);
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut received = Message {
        bytes: got as usize,
        user: None,
        descriptor: None,
    };
    // SAFETY: the kernel wrote a list of headers into the room; each is looked at within its length. Descriptors are fresh and
    // this process's; of several in one message, which we never send, each is owned and closed.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while !header.is_null() {
            let data = libc::CMSG_DATA(header);
            let bytes = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                    for index in 0..bytes / size_of::<RawFd>() {
                        let fd = data.cast::<RawFd>().add(index).read_unaligned();
                        received.descriptor = Some(OwnedFd::from_raw_fd(fd));
                    }
                }
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) if bytes >= size_of::<libc::ucred>() => {
                    received.user = Some(data.cast::<libc::ucred>().read_unaligned().uid);
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
    }
    Ok(received)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn descriptors_and_senders_travel() {
        let name = format!("softrdma-test-{}", std::process::id());
        let address = Address::new(&name).unwrap();
        let receiver = open(libc::SOCK_DGRAM | libc::SOCK_NONBLOCK).unwrap();
        bind(receiver.as_fd(), &address).unwrap();
        ask_for_senders(receiver.as_fd()).unwrap();
        let sender = open(libc::SOCK_DGRAM).unwrap();
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        send(sender.as_fd(), Some(&address), b"one", Some(file.as_fd())).unwrap();
        send(sender.as_fd(), Some(&address), b"two", None).unwrap();
        let mut buffer = [0; 8];
        let first = receive(receiver.as_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..first.bytes], b"one");
        // SAFETY: takes nothing.
        assert_eq!(first.user, Some(unsafe { libc::geteuid() }));
        assert!(first.descriptor.is_some());
        let second = receive(receiver.as_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..second.bytes], b"two");
        assert!(second.descriptor.is_none());
        let error = receive(receiver.as_fd(), &mut buffer)
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn long_names_are_refused() {
        assert!(Address::new(&"x".repeat(107)).is_some());
        assert!(Address::new(&"x".repeat(108)).is_none());
    }
}
