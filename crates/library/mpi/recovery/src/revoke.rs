//! `MPI_Comm_revoke`: a process gives a communicator up, and all its processes hear of it.
//!
//! Who revokes tells all. Who hears of it for the first time tells some others, at distances that are powers of two, so
//! that all hear of it if the first dies while it tells them.

use std::sync::Arc;

use weft_error::Result;
use weft_handle::CommId;
use weft_objects::comm::{Comm, find, members, share};
use weft_process::engine::engine;
use weft_process::job;
use weft_transport::Peer;

use crate::content::Content;
use crate::members::Members;
use crate::outbox;

/// `MPI_Comm_revoke`.
pub fn revoke(comm: CommId) -> Result<()> {
    let comm = share(comm)?;
    if end(&comm) {
        let others = Members::of(&comm).peers().to_vec();
        tell(&comm, others.into_iter());
    }
    Ok(())
}

/// `MPI_Comm_is_revoked`.
pub fn is_revoked(comm: CommId) -> Result<bool> {
    Ok(find(comm)?.is_revoked())
}

/// Ends all that is pending on it, and lets nothing begin. False if it was revoked before.
fn end(comm: &Comm) -> bool {
    let is_new = comm.mark_revoked();
    if is_new {
        engine().revoke(|context| comm.has_context(context));
    }
    is_new
}

fn tell(comm: &Comm, others: impl Iterator<Item = Peer>) {
    let number = comm.number();
    let me = job::rank();
    let notices = others.filter(|&peer| peer != me);
    outbox::give(notices.map(|peer| Content::Revoked.notice(peer, number)));
    outbox::send();
}

/// A process says that a communicator is revoked.
pub fn heard(number: u32, find: impl Fn() -> Option<Arc<Comm>>, from: Peer) {
    let comm = find().or_else(|| {
        // It is revoked as soon as it is made; it may have been made since it was looked for.
        members().revoke_early(number);
        find()
    });
    let Some(comm) = comm else {
        return;
    };
    let all = Members::of(&comm);
    if all.find(from).is_some() && end(&comm) {
        let (own, count) = (all.own(), all.count());
        let distances = (0..u32::BITS).map(|power| 1u64 << power);
        let distances = distances.take_while(|&distance| distance < u64::from(count));
        let both = distances.flat_map(|distance| {
            let (own, count) = (u64::from(own), u64::from(count));
            [(own + distance) % count, (own + count - distance) % count]
        });
        let mut others: Vec<Peer> = both.map(|member| all.peer(member as u32)).collect();
        others.sort_unstable();
        others.dedup();
        tell(&comm, others.into_iter());
    }
}
