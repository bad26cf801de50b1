//! Cancelling (MPI-5.0 §3.8.4): a receive that is not matched; a send that is queued, or whose receiver says
//! that it was not matched.

use weft_matching::UnexpectedId;
use weft_transport::{Endpoint, Fabric, Header, Peer};
use weft_wire::{FORGOTTEN, Packet, PacketKind};

use crate::engine::Engine;
use crate::outbound::Control;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::{Role, awaits, flag};
use crate::state::{Action, Core, State};
use crate::unexpected::Payload;

impl<F: Fabric> Engine<F> {
    /// Asks for a pending request to be cancelled. It completes either way, by its operation or cancelled.
    pub fn cancel(&self, id: RequestId) {
        let Some((lane, index)) = self.pending(id) else {
            return;
        };
        let mut state = lane.enter_soon();
        if !self.slots.at(index).is_complete() {
            // SAFETY: pending on this lane, whose section is held.
            state.cancel(unsafe { Pending::new(index) });
            state.act();
        }
        self.leave(lane, state);
    }
}

impl<E: Endpoint> State<E> {
    fn cancel(&mut self, slot: Pending) {
        let cells = self.core.cells(slot);
        match cells.role {
            Role::Receive => {
                if !cells.has(flag::ANNOUNCED) && self.core.withdraw(slot) {
                    self.core.cancelled(slot);
                }
            }
            Role::Send => self.cancel_send(slot),
            Role::Message | Role::External | Role::Operation | Role::Access(_) => {}
        }
    }

    pub(crate) fn cancel_send(&mut self, slot: Pending) {
        let cookie = self.core.slots.id(slot.index()).bits();
        let me = self.core.me;
        let cells = self.core.cells(slot);
        let peer = cells.peer;
        if cells.has(flag::QUEUED) {
            let slots = self.core.slots.clone();
            let opened = self.core.cells(slot).extra().descriptor.is_some();
            if let Some(queue) = self.core.outbound.queue(peer) {
                queue.remove(slot, &slots);
            }
            self.core.outbound.tidy(peer);
            if opened {
                self.endpoint.bulk_cancel(peer, cookie);
            }
            self.core.cancelled(slot);
        } else if peer == me {
            self.core.cancel_to_self(slot);
        } else if cells.has(flag::ANNOUNCED) && !cells.has(flag::CANCELLING) {
            cells.flags |= flag::CANCELLING;
            let header = Header(Packet::control(PacketKind::Cancel).words());
            self.control(
                peer,
                Control::Words {
                    header,
                    body: [cookie, 0, 0],
                    words: 1,
                },
            );
        }
    }
}

impl Core {
    pub(crate) fn cancelled(&mut self, slot: Pending) {
        self.in_flight.remove(&slot);
        let outcome = &mut self.cells(slot).outcome;
        outcome.cancelled = outcome.failure.is_none();
        self.complete(slot);
    }

    fn cancel_to_self(&mut self, slot: Pending) {
        let mine = |payload: &Payload| matches!(payload, Payload::ToSelf { slot: own, .. } if *own == slot);
        let found = self
            .matching
            .unexpected_iter()
            .find(|(_, _, message)| mine(&message.payload));
        if let Some(id) = found.map(|(id, _, _)| id)
            && let Some((_, unexpected)) = self.matching.remove(id)
        {
            self.unstored(&unexpected);
            self.cancelled(slot);
        }
    }

    /// The unexpected message of a send of `from` that waits for this process, by the cookie that it has told.
    pub(crate) fn announced(&self, from: Peer, cookie: u64) -> Option<UnexpectedId> {
        let found = self.matching.unexpected_iter().find(|(_, _, message)| {
            let announced = message.synchronous
                || matches!(
                    message.payload,
                    Payload::Rts { .. } | Payload::RtsOnly { .. }
                );
            announced && message.peer == from && message.cookie == cookie
        });
        found.map(|(id, _, _)| id)
    }

    /// The sender asks to forget an envelope: done if it is not matched yet.
    pub(crate) fn forget(&mut self, from: Peer, cookie: u64) {
        let found = self.announced(from, cookie);
        let removed = found.and_then(|id| self.matching.remove(id));
        let flags = match removed {
            Some((_, unexpected)) => {
                self.unstored(&unexpected);
                FORGOTTEN
            }
            None => 0,
        };
        self.answer(from, PacketKind::Cancelled, flags, cookie);
    }

    /// The receiver answers a cancel.
    /// None if it makes no sense: nothing was asked, or the peer forgets what it has answered to.
    pub(crate) fn cancel_answered(
        &mut self,
        from: Peer,
        slot: Pending,
        forgotten: bool,
    ) -> Option<()> {
        let cells = self.cells(slot);
        if !cells.has(flag::CANCELLING) {
            return None;
        }
        cells.flags &= !flag::CANCELLING;
        if !forgotten {
            if cells.awaits == 0 {
                self.in_flight.remove(&slot);
                self.complete(slot);
            }
            return Some(());
        }
        let opened = cells.extra().descriptor.is_some();
        // What the receiver sends once it has matched a message.
        let answers = awaits::ACK | awaits::CTS;
        if (cells.has(flag::SYNCHRONOUS) || !opened) && cells.awaits & answers == 0 {
            return None;
        }
        if opened {
            // Until the endpoint is free nothing else completes it.
            cells.flags &= !flag::ANNOUNCED;
            self.actions
                .push_back(Action::BulkCancel { peer: from, slot });
        } else {
            self.cancelled(slot);
        }
        Some(())
    }
}
