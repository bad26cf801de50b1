//! A lane's ring to one peer, and how a packet that does not fit in a cell is put into it.

use std::sync::Arc;

use weft_sync::cells::{Producer, Pushed};

use crate::blocks::{Blocks, GROWN_FROM, Growth, LANE_BYTES};
use crate::counters::Counters;
use crate::peers::Neighbour;
use crate::segment::Mapping;
use crate::shared::Shared;

/// A ring to a peer. The mapping is dropped after the producer that uses it.
pub struct Outbound {
    pub producer: Producer,
    pub exchange: Blocks,
    pub neighbour: Arc<Neighbour>,
    /// Where the link lies in this process's segment.
    pub offset: u64,
    pub _mapping: Arc<Mapping>,
}

impl Outbound {
    /// Sends a packet that does not fit in a cell: in a block if one is held, else through the ring.
    #[inline(never)]
    pub fn push_long(
        &mut self,
        kind: u8,
        header: [u64; 2],
        bytes: usize,
        shared: &Shared,
        counters: &mut Counters,
        fill: impl FnOnce(&mut [u8]),
    ) -> Pushed {
        if let Err(refused) = self.producer.ready() {
            return refused;
        }
        let mut place = self.exchange.lend(bytes);
        if place.is_none() && bytes >= GROWN_FROM {
            self.lengthen_block(bytes, shared, counters);
            place = self.exchange.lend(bytes);
        }
        let Some(place) = place else {
            return self.producer.push(kind, header, bytes, fill);
        };
        let fill = || {
            // SAFETY: the block has memory for `bytes` bytes, and is this process's until the packet is published
            // (rules 1 and 2 of `blocks`).
            fill(unsafe { std::slice::from_raw_parts_mut(place.base, bytes) });
        };
        self.producer
            .push_elsewhere(kind, header, place.name, bytes, fill)
    }

    /// Takes memory for a packet in a block that is here, if the packet is worth it and not enough was taken for others. Without it, the packet goes
    /// through the ring.
    #[cold]
    fn lengthen_block(&mut self, bytes: usize, shared: &Shared, counters: &mut Counters) {
        let offset = self.offset;
        let own =
            |link: &Mapping, Growth { at, bytes }| shared.segment.fill(link, offset, at, bytes);
        if counters.block_bytes < LANE_BYTES {
            counters.block_bytes += self.exchange.lengthen(bytes, own).unwrap_or(0) as u64;
        }
    }
}
