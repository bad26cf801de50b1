//! Losing a peer: it died, or it broke the protocol and was ended.
//!
//! The transport tells each lane once, in a poll ([`Sink::lost`](weft_transport::Sink::lost)); a peer whose packet makes no sense is
//! ended by the lane that found out, in the turn in which it did. In the same turn the lane drops all that it was to do for the
//! peer and all that the peer has promised, and fails what waits for it. From then on nothing new begins to wait: sends and
//! transfers are refused by the endpoint, and a receive fails when a thread first waits for it or looks at it for a while
//! ([`State::watch_awaited`]).
//!
//! A receive or probe from any source fails while no message is there for it and a process of its communicator is lost: the
//! message might have been that process's (MPI-5.0 §9.3 gives the class; that no call waits for ever is what is asked of it).
//! The maker of the engine says which processes are in a communicator, by its context ([`Members`](crate::peers::Members)).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use weft_transport::{Endpoint, Fabric, Lost, Peer, Refused};
use weft_wire::View;

use crate::engine::Engine;
use crate::peers::Members;
use crate::pending::Pending;
use crate::state::{Action, Afterwards, Core, State};
use crate::status::Failure;
use crate::unexpected::Payload;

/// Idle turns between two looks at the clock.
const CLOCK_EVERY: u32 = 64;
/// Members of a communicator that begin to be watched at once.
const MEMBERS_AT_ONCE: u32 = 16;

/// The number of the member behind this process: transports that watch some members alone have each of them watched by some.
fn behind(members: &dyn Members, context: u32) -> u32 {
    let (count, own) = members.count_and_own(context);
    (own + 1) % count.max(1)
}

impl Core {
    /// A packet of `from` makes no sense.
    #[cold]
    pub fn nonsense(&mut self, from: Peer, view: View) {
        let words = view.0;
        let why =
            format!("rank {from} sent a malformed packet (header {words:x?}); connection ended");
        let why = Lost(Arc::from(why));
        self.actions.push_back(Action::End { peer: from, why });
    }

    /// Whether what comes from `peer` is of no account any more.
    pub fn is_ended(&self, peer: Peer) -> bool {
        let ends =
            |action: &Action| matches!(action, Action::End { peer: ended, .. } if *ended == peer);
        self.lost.contains(&peer) || self.actions.iter().any(ends)
    }

    /// Drops all that has to do with `peer`, and fails what waits for it.
    #[cold]
    pub fn lose(&mut self, peer: Peer, why: &Lost) {
        if !self.lost.insert(peer) {
            return;
        }
        self.reported.report(self.me, peer, why);
        // First what might be done for requests that end here.
        self.actions.retain(|action| action.peer() != peer);
        let slots = self.slots.clone();
        while let Some(slot) = self.pop_queued(peer, &slots) {
            self.fail(slot, Failure::PeerLost);
        }
        self.outbound.take(peer);
        self.fail_in_flight(peer);
        self.fail_posted(Failure::PeerLost, |core, context, source, sender| {
            match source < 0 {
                true => core.members.contains(context, peer),
                false => sender == peer,
            }
        });
        self.drop_promised(peer);
        self.afterwards.push(Afterwards::Lost(peer));
        let wakes = self.probers.drain(..).map(Afterwards::Wake);
        self.afterwards.extend(wakes);
    }

    fn fail_in_flight(&mut self, peer: Peer) {
        let in_flight: Vec<Pending> = self.in_flight.iter().copied().collect();
        for slot in in_flight {
            if self.cells(slot).peer == peer {
                self.fail(slot, Failure::PeerLost);
            }
        }
    }

    /// Fails the posted receives that a condition on context, source and sending process finds.
    pub fn fail_posted(
        &mut self,
        failure: Failure,
        concerned: impl Fn(&Core, u32, i32, Peer) -> bool,
    ) {
        let posted: Vec<Pending> = self
            .matching
            .posted_iter()
            .map(|(_, _, posted)| posted.pending())
            .collect();
        for slot in posted {
            let cells = self.cells(slot);
            let (context, source, peer) = (cells.context, cells.source, cells.peer);
            if concerned(self, context, source, peer) && self.withdraw(slot) {
                self.fail(slot, failure);
            }
        }
    }

    /// Drops the messages whose payload is with `peer`.
    fn drop_promised(&mut self, peer: Peer) {
        let promised: Vec<_> = self
            .matching
            .unexpected_iter()
            .filter(|(_, _, message)| {
                let payload = &message.payload;
                let elsewhere = matches!(payload, Payload::Rts { .. } | Payload::RtsOnly { .. });
                elsewhere && message.peer == peer
            })
            .map(|(id, _, _)| id)
            .collect();
        for id in promised {
            if let Some((_, unexpected)) = self.matching.remove(id) {
                self.unstored(&unexpected);
            }
        }
        self.actions.retain(|action| action.peer() != peer);
    }

    /// Whether a process of a context's communicator is lost.
    pub fn has_lost_member(&self, context: u32) -> bool {
        let mut lost = self.lost.iter();
        lost.any(|&peer| {
            let members = &self.members;
            members.contains(context, peer) && !members.is_acknowledged(context, peer)
        })
    }
}

impl<F: Fabric> Engine<F> {
    /// Tells the user that a peer is lost, unless a lane has: for those who find it out by other ways than the transport's.
    #[cold]
    pub fn tell_lost(&self, peer: Peer, why: &Lost) {
        self.shared.reported.report(self.me, peer, why);
    }

    /// Ends a peer that has broken a rule of those who made the engine, with all that waits for it.
    #[cold]
    pub fn end_peer(&self, lane: u32, peer: Peer, why: &str) {
        let why = Lost(Arc::from(format!("rank {peer} {why}; connection ended")));
        let lane = self.lane(lane);
        let mut state = lane.enter_soon();
        state.core.actions.push_back(Action::End { peer, why });
        state.act();
        self.leave(lane, state);
    }

    /// This process leaves its job, or has joined it again: the ends of others are in order meanwhile, and the user is told of none.
    pub fn set_leaving(&self, is_leaving: bool) {
        self.shared.reported.set_leaving(is_leaving);
    }
}

impl<E: Endpoint> State<E> {
    /// A turn has brought nothing.
    #[inline]
    pub fn idle(&mut self) {
        let turns = &mut self.core.watched.idle_turns;
        *turns = turns.wrapping_add(1);
        if turns.is_multiple_of(CLOCK_EVERY) {
            self.watch_awaited_if_due();
        }
    }

    /// Before and after a sleep, and now and then between idle turns.
    #[cold]
    #[inline(never)]
    pub fn watch_awaited_if_due(&mut self) {
        let now = Instant::now();
        if self.core.watched.is_due(now) {
            self.watch_awaited();
            self.core.watched.looked(now, Instant::now());
        }
    }

    /// Sees to it that the death of a process is told on this lane if a request waits for it, be it that nothing ever came
    /// from there, and fails the receives from processes that are lost already. The calls that test do not say what for, so
    /// this looks at all posted receives, and at what is to be taken or given by others.
    pub fn watch_awaited(&mut self) {
        self.watch_in_flight();
        let members = self.core.members.clone();
        if members.is_any_revoked() {
            self.revoke(&|context| members.is_revoked(context));
        }
        let mut senders = BTreeSet::new();
        let mut contexts: BTreeSet<u32> = self.core.watched.probed.drain(..).collect();
        for (_, pattern, posted) in self.core.matching.posted_iter() {
            match pattern.source < 0 {
                true => drop(contexts.insert(pattern.context)),
                false => drop(senders.insert(posted.peer())),
            }
        }
        senders.retain(|&peer| self.expect(peer, false).is_err());
        let nexts = &mut self.core.watched.next_members;
        nexts.retain(|next| contexts.contains(&next.0));
        contexts.retain(|&context| {
            self.watch_members(context);
            self.core.has_lost_member(context)
        });
        if !senders.is_empty() || !contexts.is_empty() {
            self.core
                .fail_posted(Failure::PeerLost, |_, context, source, peer| {
                    match source < 0 {
                        true => contexts.contains(&context),
                        false => senders.contains(&peer),
                    }
                });
        }
    }

    /// Watches the processes that take part in transfers: announced messages that they have not taken, for one.
    fn watch_in_flight(&mut self) {
        let slots: Vec<Pending> = self.core.in_flight.iter().copied().collect();
        let peers: BTreeSet<Peer> = slots
            .into_iter()
            .map(|slot| self.core.cells(slot).peer)
            .collect();
        for peer in peers {
            // The loss of one has failed its requests.
            let _ = self.expect(peer, false);
        }
    }

    /// Watches some more of a context's processes.
    fn watch_members(&mut self, context: u32) {
        let members = self.core.members.clone();
        let nexts = &mut self.core.watched.next_members;
        let known = nexts.iter().position(|next| next.0 == context);
        let index = known.unwrap_or_else(|| {
            nexts.push((context, behind(&*members, context)));
            nexts.len() - 1
        });
        let begin = nexts[index].1;
        let some = (begin..begin + MEMBERS_AT_ONCE).map_while(|next| members.member(context, next));
        let some: Vec<Peer> = some.collect();
        // From the first again behind the last: all of them are watched, but one may have been asked for in vain.
        let whole = some.len() == MEMBERS_AT_ONCE as usize;
        nexts[index].1 = if whole { begin + MEMBERS_AT_ONCE } else { 0 };
        for peer in some {
            // Its loss is told.
            let _ = self.expect(peer, true);
        }
    }

    /// Has `peer` watched, of which something is awaited, or of a communicator of which it is one.
    pub fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Failure> {
        if peer == self.core.me {
            return Ok(());
        }
        if self.core.lost.contains(&peer) {
            return Err(Failure::PeerLost);
        }
        match self.endpoint.expect(peer, one_of_many) {
            Ok(()) => Ok(()),
            Err(Refused::Lost) => Err(Failure::PeerLost),
            Err(refused) => {
                self.core.full(peer, refused);
                Ok(())
            }
        }
    }

    /// Of a receive or probe in vain: whether its message can come still.
    pub fn can_come(&mut self, context: u32, source: i32, peer: Peer) -> Result<(), Failure> {
        if self.core.members.is_revoked(context) {
            return Err(Failure::Revoked);
        }
        if source >= 0 {
            return self.expect(peer, false);
        }
        if self.core.has_lost_member(context) {
            return Err(Failure::PeerLost);
        }
        let probed = &mut self.core.watched.probed;
        if !probed.contains(&context) {
            probed.push(context);
        }
        Ok(())
    }
}
