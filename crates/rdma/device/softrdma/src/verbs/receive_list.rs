//! Posting lists of receive requests, to queue pairs and to shared receive queues.

use weft_verbs_abi::*;

use super::limits::MAX_SGE;
use crate::call::{Errno, Result, readable, require};
use crate::fabric::receive::Ring;
use crate::fabric::record::receive::Sge;

/// Posts a list of receive requests, up to the first that cannot be.
///
/// # Safety
/// The list is readable, `bad_wr` writable; no other thread posts to the ring.
pub unsafe fn post_list(
    ring: &Ring<'_>,
    max_sge: u32,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> Result {
    let mut next = wr;
    while !next.is_null() {
        // SAFETY: an element of the caller's list.
        let posted = unsafe {
            let wr = &*next;
            post_one(ring, max_sge, wr)
        };
        if let Err(errno) = posted {
            // SAFETY: the caller's promise.
            unsafe { *bad_wr = next };
            return Err(errno);
        }
        // SAFETY: as above.
        next = unsafe { (*next).next };
    }
    Ok(())
}

/// # Safety
/// As of [`post_list`].
#[inline]
unsafe fn post_one(ring: &Ring<'_>, max_sge: u32, wr: &ibv_recv_wr) -> Result {
    let count = usize::try_from(wr.num_sge).map_err(|_| Errno::EINVAL)?;
    require(count <= max_sge as usize, Errno::EINVAL)?;
    // SAFETY: the caller's promise.
    let elements = unsafe { readable(wr.sg_list, count) };
    let sge = |element: &ibv_sge| Sge {
        address: element.addr,
        length: element.length,
        lkey: element.lkey,
    };
    let posted = match elements {
        [one] => ring.post(wr.wr_id, &[sge(one)]),
        _ => {
            let mut sges = [Sge::default(); MAX_SGE as usize];
            for (to, from) in sges.iter_mut().zip(elements) {
                *to = sge(from);
            }
            ring.post(wr.wr_id, &sges[..count])
        }
    };
    posted.map_err(|_| Errno::ENOMEM)
}
