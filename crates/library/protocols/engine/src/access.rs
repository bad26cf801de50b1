//! Accesses to memory that a peer has exposed: no packet of the engine's, and nothing that the peer does.
//!
//! An access has no order among messages, so that it waits for a way among the answers of the protocol ([`Control`]). It is complete when
//! the data have moved, at the peer too.

use weft_memory::Memory;
use weft_transport::{Access, Direction, Endpoint, Exposed, Fabric, Peer, Refused};

use crate::engine::{Engine, Exhausted};
use crate::outbound::Control;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::{Role, awaits};
use crate::state::State;

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
pub struct AccessTarget {
    /// That for which the memory was exposed.
    pub lane: u32,
    pub peer: Peer,
    /// What is told of a failure.
    pub context: u32,
    pub exposed: Exposed,
    /// Bytes from the beginning of what is exposed.
    pub offset: u64,
}

impl<F: Fabric> Engine<F> {
    /// Moves all of `memory` to a peer's, or from there. The fabric reaches what this peer exposes ([`Fabric::reaches_exposed`]).
    pub fn access(
        &self,
        place: AccessTarget,
        direction: Direction,
        memory: Memory,
    ) -> Result<RequestId, Exhausted> {
        let lane = self.lane(place.lane);
        self.start(lane, lane.enter(), |cells| {
            cells.reset(Role::Access(direction), memory);
            (cells.peer, cells.context) = (place.peer, place.context);
            cells.extra().remote_memory = Some((place.exposed, place.offset));
        })
    }
}

impl<E: Endpoint> State<E> {
    pub(crate) fn start_access(&mut self, slot: Pending) {
        let peer = self.core.cells(slot).peer;
        self.core.announce(slot, awaits::BULK);
        self.control(peer, Control::Access { slot });
    }

    pub(crate) fn transmit_access(&mut self, slot: Pending) -> Result<(), Refused> {
        let cookie = self.core.slots.id(slot.index()).bits();
        let cells = self.core.cells(slot);
        let (peer, memory) = (cells.peer, cells.memory());
        let Role::Access(direction) = cells.role else {
            unreachable!("an access is made of a request that is one");
        };
        let (exposed, offset) = cells
            .extra()
            .remote_memory
            .expect("an access goes somewhere");
        let access = Access {
            direction,
            memory,
            exposed,
            offset,
        };
        self.endpoint.access(peer, access, cookie)
    }
}
