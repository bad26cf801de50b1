//! Multicast groups of UD queue pairs on this host (ibv_attach_mcast(3)).
//!
//! A queue pair's groups stand in its record in shared memory, two words each; senders look through the records.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_verbs_abi::*;

use super::attributes::MAX_MULTICAST;
use super::call::{Errno, Result, code, require};
use super::identity;
use super::qp::{Qp, QpKind};
use crate::fabric::QpRecord;

fn words(gid: [u8; 16]) -> [u64; 2] {
    let half = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| gid[at + byte]));
    [half(0), half(8)]
}

fn groups(record: &QpRecord) -> impl Iterator<Item = [&AtomicU64; 2]> {
    let words = record.attributes[..2 * MAX_MULTICAST as usize].chunks_exact(2);
    words.map(|pair| [&pair[0], &pair[1]])
}

fn holds([first, second]: [&AtomicU64; 2], gid: [u64; 2]) -> bool {
    first.load(Ordering::Acquire) == gid[0] && second.load(Ordering::Relaxed) == gid[1]
}

/// Whether the queue pair is in the group.
pub fn contains(record: &QpRecord, gid: [u8; 16]) -> bool {
    let gid = words(gid);
    groups(record).any(|group| holds(group, gid))
}

/// Leaves all groups.
pub fn clear(record: &QpRecord) {
    for [first, second] in groups(record) {
        first.store(0, Ordering::Relaxed);
        second.store(0, Ordering::Relaxed);
    }
}

fn attach(qp: &Qp, gid: [u8; 16]) -> Result {
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

fn detach(qp: &Qp, gid: [u8; 16]) -> Result {
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
    code(unsafe { attach(Qp::from_abi(qp), (*gid).bytes()) })
}

/// # Safety
/// As of [`ibv_attach_mcast`].
pub unsafe extern "C" fn ibv_detach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    _lid: u16,
) -> c_int {
    // SAFETY: the caller's promise.
    code(unsafe { detach(Qp::from_abi(qp), (*gid).bytes()) })
}
