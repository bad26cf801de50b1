//! The UDP socket of one address, and what the kernel can do for it.

use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, sockaddr_in, socklen_t};

use super::{check, option, set_option, socket};

#[derive(Debug)]
pub struct UdpSocket {
    pub descriptor: OwnedFd,
    /// What it holds of packets that nobody has received yet.
    pub receive_bytes: u32,
    /// Whether the kernel divides one datagram into packets on its way out (UDP_SEGMENT, Linux 4.18). Any sender that finds out
    /// that it does not, on the way that it took, clears it; that it is read late only costs another attempt.
    segments: AtomicBool,
}

impl UdpSocket {
    pub fn segments(&self) -> bool {
        self.segments.load(Ordering::Relaxed)
    }

    pub fn does_not_segment(&self) {
        self.segments.store(false, Ordering::Relaxed);
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

pub fn inet(address: Ipv4Addr, port: u16) -> sockaddr_in {
    sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(address).to_be(),
        },
        sin_zero: [0; 8],
    }
}

/// A socket bound to the address and port beside others of this user, datagrams chosen by byte 5; sends "don't
/// fragment", and so, unconnected, with IP identification 0.
pub fn udp_socket(address: Ipv4Addr, port: u16, buffer: c_int) -> io::Result<UdpSocket> {
    let socket = socket(libc::AF_INET)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEPORT, &1)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &buffer)?;
    let discover = libc::IP_PMTUDISC_DO;
    set_option(&socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &discover)?;
    set_option(&socket, libc::IPPROTO_IP, libc::IP_RECVTOS, &1)?;
    set_option(&socket, libc::IPPROTO_IP, libc::IP_RECVTTL, &1)?;
    // Both are there or not; without them packets go and come one by one.
    let segments = set_option(&socket, libc::SOL_UDP, libc::UDP_SEGMENT, &0).is_ok();
    let _ = set_option(&socket, libc::SOL_UDP, libc::UDP_GRO, &1);
    let name = inet(address, port);
    // SAFETY: `name` is a sockaddr_in of the length that is told.
    check(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&name).cast(),
            mem::size_of_val(&name) as socklen_t,
        )
    })?;
    choose_by_byte_5(&socket)?;
    let receive_bytes: c_int = option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF)?;
    Ok(UdpSocket {
        receive_bytes: receive_bytes as u32,
        descriptor: socket,
        segments: AtomicBool::new(segments),
    })
}

/// The BPF program: load the byte at 5, return it as the index of a socket.
fn choose_by_byte_5(socket: &OwnedFd) -> io::Result<()> {
    let instruction = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 5),
        instruction(libc::BPF_RET | 0x10, 0),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    set_option(
        socket,
        libc::SOL_SOCKET,
        libc::SO_ATTACH_REUSEPORT_CBPF,
        &program,
    )
}

#[cfg(test)]
impl UdpSocket {
    /// Has the kernel refuse to divide what this socket sends: it does so only where it computes a checksum.
    pub fn without_checksums(&self) -> io::Result<()> {
        set_option(&self.descriptor, libc::SOL_SOCKET, libc::SO_NO_CHECK, &1)
    }
}
