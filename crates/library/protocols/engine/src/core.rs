//! What a lane's state can do without its endpoint: finding and completing requests.

use std::sync::atomic::Ordering;

use weft_transport::{Cookie, Header, Peer};
use weft_wire::{Kind, Packet};

use crate::outbound::Control;
use crate::request_id::RequestId;
use crate::slot::{COMPLETE, Cells, Outcome, PENDING, POOLED, Role, Slot, awaits, flag};
use crate::slots::Slots;
use crate::state::{Action, Core};
use crate::status::Failure;
use crate::throttle::ThrottleChange;
use crate::unexpected::Unexpected;

impl Core {
    /// The cells of a slot pending on this lane.
    #[inline]
    pub fn cells(&mut self, slot: u32) -> &mut Cells {
        debug_assert!(self.slots.at(slot).is_pending(), "a request of the lane's");
        // SAFETY: `&mut self` is had only by the holder of the lane's section, and indices reach a lane's
        // state only by being handed to it (slot protocol, rules 1 and 2).
        unsafe { self.slots.cells(slot) }
    }

    /// Completes a request whose outcome is written.
    #[inline]
    pub fn complete(&mut self, slot: u32) {
        // SAFETY: the slot lives as long as the table, which outlives this lane; only so is it no borrow of `self`.
        let place = unsafe { &*std::ptr::from_ref(self.slots.at(slot)) };
        self.complete_at(place, slot);
    }

    /// As [`complete`](Self::complete), the slot having been looked up.
    #[inline]
    pub fn complete_at(&mut self, slot: &Slot, index: u32) {
        // SAFETY: as in `cells`.
        let cells = unsafe { &mut *slot.cells.get() };
        if cells.has(flag::DETACHED | flag::AWAITED) {
            return self.complete_specially(slot, index);
        }
        debug_assert!(slot.is_pending(), "a request completes once");
        slot.state.store(COMPLETE, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn complete_specially(&mut self, slot: &Slot, index: u32) {
        debug_assert!(slot.is_pending(), "a request completes once");
        if self.cells(index).has(flag::AWAITED) {
            self.tell_waiters(index);
        }
        if self.cells(index).has(flag::DETACHED) {
            return self.recycle_detached(index);
        }
        slot.state.store(COMPLETE, Ordering::Release);
    }

    #[cold]
    fn recycle_detached(&mut self, slot: u32) {
        if self.cells(slot).role.outlives_its_call() {
            self.detached -= 1;
        }
        let pooled = self.cells(slot).lane & POOLED != 0;
        let freed = self.slots.at(slot);
        // SAFETY: a pending, detached slot of this lane (rule 5).
        unsafe { Slots::end(freed) };
        match pooled {
            true => self.slots.give_back(slot),
            false => self.free.push(freed),
        }
    }

    /// Completes a request with a failure.
    #[cold]
    pub fn fail(&mut self, slot: u32, failure: Failure) {
        self.in_flight.remove(&slot);
        self.cells(slot).outcome.failure = Some(failure);
        self.complete(slot);
    }

    /// Takes a posted receive back, to be failed or cancelled. False if it has been matched.
    pub fn withdraw(&mut self, slot: u32) -> bool {
        let posted = self.cells(slot).posted;
        let withdrawn = posted.is_some_and(|id| self.matching.cancel(id).is_some());
        if withdrawn {
            self.cells(slot).outcome = Outcome::default();
        }
        withdrawn
    }

    /// The envelope has left, or come: the request is complete when all that it awaits has come.
    pub fn announce(&mut self, slot: u32, awaits: u8) {
        self.cells(slot).awaits = awaits;
        self.announce_begun(slot);
    }

    /// As `announce`, of a request whose transfer has begun before: what it awaits may have come already.
    pub fn announce_begun(&mut self, slot: u32) {
        let cells = self.cells(slot);
        cells.flags |= flag::ANNOUNCED;
        if cells.awaits == 0 {
            self.complete(slot);
        } else {
            self.in_flight.insert(slot);
        }
    }

    /// Something that a request awaits has come. None, and nothing happened, if it awaits no such thing.
    pub fn came(&mut self, slot: u32, what: u8) -> Option<()> {
        self.came_and_awaits(slot, what, 0)
    }

    /// As [`came`](Self::came), after which the request awaits something else.
    pub fn came_and_awaits(&mut self, slot: u32, what: u8, next: u8) -> Option<()> {
        let cells = self.cells(slot);
        if cells.awaits & what == 0 {
            return None;
        }
        cells.awaits = cells.awaits & !what | next;
        if cells.awaits == 0
            && cells.flags & (flag::ANNOUNCED | flag::CANCELLING) == flag::ANNOUNCED
        {
            self.in_flight.remove(&slot);
            self.complete(slot);
        }
        Some(())
    }

    /// The transport has moved a request's bytes. It names only transfers that were opened and whose peer is not lost.
    pub fn moved(&mut self, cookie: Cookie) {
        let slot = RequestId::from_bits(cookie).index();
        debug_assert_eq!(
            self.slots.id(slot).bits(),
            cookie,
            "a transfer of a request that is over"
        );
        let came = self.came(slot, awaits::BULK);
        debug_assert!(came.is_some(), "a transfer ends once");
    }

    /// Takes the oldest message that waits for `peer`.
    pub fn pop_queued(&mut self, peer: Peer, slots: &Slots) -> Option<u32> {
        let slot = self.outbound.queue(peer)?.pop(slots)?;
        self.cells(slot).flags &= !flag::QUEUED;
        Some(slot)
    }

    /// The pending request of this lane that a cookie names: what comes from outside is checked for that.
    pub fn named(&mut self, cookie: u64, role: Role, peer: Peer) -> Option<u32> {
        let id = RequestId::from_bits(cookie);
        let slot = self.slots.find(id)?;
        if slot.state.load(Ordering::Acquire) != PENDING || !self.in_flight.contains(&id.index()) {
            return None;
        }
        let cells = self.cells(id.index());
        (cells.role == role && cells.peer == peer).then_some(id.index())
    }

    /// Accounts for a message taken from the unexpected ones.
    pub fn unstored(&mut self, unexpected: &Unexpected) {
        let change = self
            .throttle
            .taken(unexpected.peer, unexpected.payload.held_bytes());
        self.tell_throttle(unexpected.peer, change);
    }

    pub fn tell_throttle(&mut self, peer: Peer, change: Option<ThrottleChange>) {
        if let Some(ThrottleChange { on }) =
            change.filter(|_| peer != self.me && !self.lost.contains(&peer))
        {
            self.actions.push_back(Action::Throttle { peer, on });
        }
    }

    /// Tells the sender of a synchronous message that it is matched.
    pub fn acknowledge_match(&mut self, peer: Peer, cookie: u64) {
        self.answer(peer, Kind::Ack, 0, [cookie, 0], 1);
    }

    pub fn answer(&mut self, peer: Peer, kind: Kind, flags: u8, body: [u64; 2], words: u8) {
        let packet = Packet {
            flags,
            ..Packet::control(kind)
        };
        let control = Control::Words {
            header: Header(packet.words()),
            body,
            words,
        };
        self.actions.push_back(Action::Control { peer, control });
    }
}

impl Outcome {
    /// Of a message that was received: truncated if it was longer than `room` bytes (MPI-5.0 §3.2.2).
    #[inline]
    pub fn received(source: i32, tag: i32, bytes: u64, room: u64) -> Outcome {
        let failure = (bytes > room).then_some(Failure::Truncated);
        Outcome {
            source,
            tag,
            bytes: bytes.min(room),
            failure,
            cancelled: false,
        }
    }
}
