//! Joining and leaving multicast groups (ibv_attach_mcast(3)).

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::qp::Qp;
use crate::call::{Errno, Result, code, require};
use crate::identity;
use crate::path::multicast::{contains, groups, holds, words};
use crate::path::queue_pair::QueuePair;
use crate::path::state::QpKind;

fn attach(qp: &QueuePair, gid: [u8; 16]) -> Result {
    require(
        qp.kind == QpKind::Ud && identity::is_multicast(gid),
        Errno::EINVAL,
    )?;
    // Serialises with other calls on the queue pair.
    let _attributes = qp.attributes();
    if contains(qp.record(), gid) {
        return Ok(());
    }
    let free = groups(qp.record()).find(|group| holds(*group, [0, 0]));
    let [first, second] = free.ok_or(Errno::ENOMEM)?;
    let gid = words(gid);
    second.store(gid[1], Ordering::Relaxed);
    first.store(gid[0], Ordering::Release);
    Ok(())
}

fn detach(qp: &QueuePair, gid: [u8; 16]) -> Result {
    let _attributes = qp.attributes();
    let gid = words(gid);
    let found = groups(qp.record()).find(|group| holds(*group, gid));
    let [first, second] = found.ok_or(Errno::EINVAL)?;
    first.store(0, Ordering::Release);
    second.store(0, Ordering::Relaxed);
    Ok(())
}

/// # Safety
/// `qp` is a queue pair of this device, `gid` readable.
pub unsafe extern "C" fn ibv_attach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    _lid: u16,
) -> c_int {
    // SAFETY: the caller's promise.
    code(unsafe { attach(&Qp::from_abi(qp).inner, (*gid).bytes()) })
}

/// # Safety
/// As of [`ibv_attach_mcast`].
pub unsafe extern "C" fn ibv_detach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    _lid: u16,
) -> c_int {
    // SAFETY: the caller's promise.
    code(unsafe { detach(&Qp::from_abi(qp).inner, (*gid).bytes()) })
}
