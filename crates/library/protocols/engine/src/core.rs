//! What a lane's state can do without its endpoint: finding and completing requests.

use std::sync::atomic::Ordering;

use weft_transport::{Cookie, Header, Peer};
use weft_wire::{Packet, PacketKind};

use crate::outbound::Control;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::{COMPLETE, Cells, Outcome, PENDING, POOLED, Role, Slot, awaits, flag};
use crate::slots::Slots;
use crate::state::{Action, Afterwards, Core};
use crate::status::Failure;
use crate::throttle::ThrottleChange;
use crate::unexpected::Unexpected;

impl Core {
    /// The cells of a slot pending on this lane.
    #[inline]
    pub fn cells(&mut self, slot: Pending) -> &mut Cells {
        let slot = self.slots.at(slot.index());
        debug_assert!(slot.is_pending(), "a request of the lane's");
        // SAFETY: by the condition of `Pending::new` the slot is this lane's, and `&mut self` is had only by the holder of the
        // lane's section (slot protocol, rule 2), who borrows the cells through it.
        unsafe { &mut *slot.cells.get() }
    }

    /// A turn of this lane, or a wait that was over without one.
    #[inline(always)]
    pub fn count_turn(&mut self) {
        if self.all_lanes.count() {
            self.look_at_all_lanes();
        }
    }

    /// Has the thread that is inside look at all lanes when it leaves.
    #[cold]
    fn look_at_all_lanes(&mut self) {
        self.all_lanes.begin_anew();
        self.afterwards.push(Afterwards::LookAtAllLanes);
    }

    /// Completes a request whose outcome is written.
    #[inline]
    pub fn complete(&mut self, pending: Pending) {
        // SAFETY: the slot lives as long as the table, which outlives this lane; only so is it no borrow of `self`.
        let slot = unsafe { &*std::ptr::from_ref(self.slots.at(pending.index())) };
        // SAFETY: as in `cells`.
        let cells = unsafe { &mut *slot.cells.get() };
        if cells.has(flag::DETACHED | flag::AWAITED) {
            return self.complete_specially(slot, pending);
        }
        debug_assert!(slot.is_pending(), "a request completes once");
        slot.state.store(COMPLETE, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn complete_specially(&mut self, slot: &Slot, pending: Pending) {
        debug_assert!(slot.is_pending(), "a request completes once");
        if self.cells(pending).has(flag::AWAITED) {
            self.tell_waiters(pending);
        }
        if self.cells(pending).has(flag::DETACHED) {
            return self.recycle_detached(pending);
        }
        slot.state.store(COMPLETE, Ordering::Release);
    }

    #[cold]
    fn recycle_detached(&mut self, slot: Pending) {
        if self.cells(slot).role.outlives_its_call() {
            self.detached -= 1;
        }
        let pooled = self.cells(slot).lane & POOLED != 0;
        let freed = self.slots.at(slot.index());
        // SAFETY: a pending, detached slot of this lane (rule 5).
        unsafe { Slots::end(freed) };
        match pooled {
            true => self.slots.give_back(slot.index()),
            false => self.free.push(freed),
        }
    }

    /// Completes a request with a failure.
    #[cold]
    pub fn fail(&mut self, slot: Pending, failure: Failure) {
        self.in_flight.remove(&slot);
        self.cells(slot).outcome.failure = Some(failure);
        self.complete(slot);
    }

    /// Takes a posted receive back, to be failed or cancelled. False if it has been matched.
    pub fn withdraw(&mut self, slot: Pending) -> bool {
        let posted = self.cells(slot).posted;
        let withdrawn = posted.is_some_and(|id| self.matching.cancel(id).is_some());
        if withdrawn {
            self.cells(slot).outcome = Outcome::default();
        }
        withdrawn
    }

    /// The envelope has left, or come: the request is complete when all that it awaits has come.
    pub fn announce(&mut self, slot: Pending, awaits: u8) {
        self.cells(slot).awaits = awaits;
        self.announce_begun(slot);
    }

    /// As `announce`, of a request whose transfer has begun before: what it awaits may have come already.
    pub fn announce_begun(&mut self, slot: Pending) {
        let cells = self.cells(slot);
        cells.flags |= flag::ANNOUNCED;
        if cells.awaits == 0 {
            self.complete(slot);
        } else {
            self.in_flight.insert(slot);
        }
    }

    /// Something that a request awaits has come. None, and nothing happened, if it awaits no such thing.
    pub fn came(&mut self, slot: Pending, what: u8) -> Option<()> {
        self.came_and_awaits(slot, what, 0)
    }

    /// As [`came`](Self::came), after which the request awaits something else.
    pub fn came_and_awaits(&mut self, slot: Pending, what: u8, next: u8) -> Option<()> {
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
        let index = RequestId::from_bits(cookie).index();
        debug_assert_eq!(
            self.slots.id(index).bits(),
            cookie,
            "a transfer of a request that is over"
        );
        // SAFETY: a request of this lane's opened the transfer, and is not over before it.
        let slot = unsafe { Pending::new(index) };
        let came = self.came(slot, awaits::BULK);
        debug_assert!(came.is_some(), "a transfer ends once");
    }

    /// Takes the oldest message that waits for `peer`.
    pub fn pop_queued(&mut self, peer: Peer, slots: &Slots) -> Option<Pending> {
        let slot = self.outbound.queue(peer)?.pop(slots)?;
        self.cells(slot).flags &= !flag::QUEUED;
        Some(slot)
    }

    /// The pending request of this lane that a cookie names: what comes from outside is checked for that.
    pub fn named(&mut self, cookie: u64, role: Role, peer: Peer) -> Option<Pending> {
        let id = RequestId::from_bits(cookie);
        let slot = self.slots.find(id)?;
        if slot.state.load(Ordering::Acquire) != PENDING {
            return None;
        }
        // As it stands in the lane's state.
        let slot = *self.in_flight.get(&id.index())?;
        let cells = self.cells(slot);
        (cells.role == role && cells.peer == peer).then_some(slot)
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
        self.answer(peer, PacketKind::Ack, 0, cookie);
    }

    /// Answers what came about the request that this cookie names to the peer.
    pub fn answer(&mut self, peer: Peer, kind: PacketKind, flags: u8, cookie: u64) {
        let packet = Packet {
            flags,
            ..Packet::control(kind)
        };
        let control = Control::Words {
            header: Header(packet.words()),
            body: [cookie, 0, 0],
            words: 1,
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
