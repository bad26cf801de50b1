//! Giving notices, and having losses told (`notice.rs`).

use weft_transport::{Endpoint, Fabric, Header, Peer, Refused};
use weft_wire::{Packet, PacketKind};

use crate::engine::Engine;
use crate::notice::{Listener, NOTICE_LANE, Notice};
use crate::state::{Afterwards, State};

impl<F: Fabric> Engine<F> {
    /// Says who is told. Before the engine is used.
    pub fn with_listener(mut self, listener: Listener) -> Engine<F> {
        self.listener = listener;
        self
    }

    /// The longest notice to a peer.
    pub fn notice_bytes(&self, peer: Peer) -> usize {
        let lane = self.lane(NOTICE_LANE);
        let state = lane.enter_soon();
        let bytes = state.endpoint.eager_limit(peer);
        self.leave(lane, state);
        bytes
    }

    /// Gives a notice. One to a peer that is lost goes nowhere, and neither does one that is too long.
    pub fn notify(&self, notice: Notice) {
        let lane = self.lane(NOTICE_LANE);
        let mut state = lane.enter_soon();
        if notice.bytes.len() <= state.endpoint.eager_limit(notice.peer) {
            state.notify(notice);
        }
        self.leave(lane, state);
    }

    /// A peer is found to be lost by other ways than the transport's.
    pub fn hear_lost(&self, peer: Peer) {
        (self.listener.lost)(peer);
    }

    /// Has a peer's loss told from here on.
    pub fn watch(&self, peer: Peer) {
        let lane = self.lane(NOTICE_LANE);
        let mut state = lane.enter_soon();
        if state.expect(peer, false).is_err() {
            state.core.afterwards.push(Afterwards::Lost(peer));
        }
        self.leave(lane, state);
    }
}

impl<E: Endpoint> State<E> {
    fn notify(&mut self, notice: Notice) {
        let peer = notice.peer;
        if !self.core.outbound.waits(peer) {
            match self.transmit_notice(&notice) {
                Ok(()) | Err(Refused::Lost) => return,
                Err(refused) => drop(self.core.full(peer, refused)),
            }
        }
        self.core.outbound.push_notice(notice);
    }

    pub(crate) fn transmit_notice(&mut self, notice: &Notice) -> Result<(), Refused> {
        let header = Packet {
            context: notice.context,
            ..Packet::control(PacketKind::Notice)
        };
        let header = Header(header.words());
        self.endpoint
            .send(notice.peer, header, &notice.bytes, false)
    }
}
