//! Options, ports, and what has no meaning here (rdma_set_option(3), rdma_get_src_port(3), rdma_notify(3)).

use std::ffi::{c_int, c_void};

use weft_verbs_abi::{ibv_ece, ibv_event_type};

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, status};
use crate::identifier::Identifier;

const RDMA_OPTION_ID: c_int = 0;
const RDMA_OPTION_ID_TOS: c_int = 0;
const RDMA_OPTION_ID_REUSEADDR: c_int = 1;
const RDMA_OPTION_ID_AFONLY: c_int = 2;
const RDMA_OPTION_ID_ACK_TIMEOUT: c_int = 3;

/// # Safety
/// As for [`rdma_set_option`].
unsafe fn set(
    id: *mut rdma_cm_id,
    option: (c_int, c_int),
    value: *const c_void,
    length: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let mut inner = Identifier::inner(id);
        match (option, length) {
            ((RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR), 4) => {
                inner.reuse = value.cast::<c_int>().read_unaligned() != 0;
                Ok(())
            }
            ((RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT), 1) => {
                inner.ack_timeout = Some(value.cast::<u8>().read() & 0x1f);
                Ok(())
            }
            // Packets carry no class of service, and each address is of one family anyway.
            ((RDMA_OPTION_ID, RDMA_OPTION_ID_TOS), 1) => Ok(()),
            ((RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY), 4) => Ok(()),
            ((RDMA_OPTION_ID, 0..=RDMA_OPTION_ID_ACK_TIMEOUT), _) => Err(Errno(libc::EINVAL)),
            _ => Err(Errno(libc::ENOSYS)),
        }
    }
}

/// # Safety
/// `id` is one of ours, `value` readable for `length`.
pub unsafe extern "C" fn rdma_set_option(
    id: *mut rdma_cm_id,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { set(id, (level, option), value, length) })
}

/// Big endian; 0 when there is none.
///
/// # Safety
/// `address` is an address of an identifier.
unsafe fn port(address: *const libc::sockaddr_storage) -> u16 {
    // SAFETY: the caller's promise.
    let address = unsafe { address::read(address.cast()) };
    address.map_or(0, |address| address.port().to_be())
}

/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_get_src_port(id: *mut rdma_cm_id) -> u16 {
    // SAFETY: the caller's promise.
    unsafe { port(&raw const (*id).route.addr.src) }
}

/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_get_dst_port(id: *mut rdma_cm_id) -> u16 {
    // SAFETY: the caller's promise.
    unsafe { port(&raw const (*id).route.addr.dst) }
}

/// The device does not wait for word from the connection manager.
pub extern "C" fn rdma_notify(_id: *mut rdma_cm_id, _event: ibv_event_type) -> c_int {
    0
}

/// There are no enhancements to agree on.
pub extern "C" fn rdma_set_local_ece(_id: *mut rdma_cm_id, _ece: *mut ibv_ece) -> c_int {
    0
}

/// # Safety
/// `ece` is writable.
pub unsafe extern "C" fn rdma_get_remote_ece(_id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { ece.write(ibv_ece::default()) };
    0
}

/// XRC listeners and sockets over RDMA (rsockets) are not offered.
pub extern "C" fn unsupported() -> c_int {
    status(Err(Errno(libc::EOPNOTSUPP)))
}

/// None of the descriptors is a socket over RDMA, so it is poll(2).
///
/// # Safety
/// As of poll(2).
pub unsafe extern "C" fn rpoll(
    descriptors: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout_ms: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::poll(descriptors, count, timeout_ms) }
}
