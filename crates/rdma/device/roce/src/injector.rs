//! Faults of the wire on request: loss, duplication, reordering, delay; a link that is cut.
//!
//! Everything is decided by a seed: the same packets meet the same fate in each run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::net::Ipv4Addr;

use super::batch::Batch;

/// What happens to packets. Probabilities are from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Injection {
    pub loss: f64,
    pub duplicate: f64,
    /// Such packets are overtaken by those of the next [`REORDER_NS`] nanoseconds.
    pub reorder: f64,
    /// Added to each packet's way.
    pub delay_us: u32,
    pub seed: u64,
    /// Nothing gets through.
    pub link_down: bool,
}

/// How much later a reordered packet leaves.
pub const REORDER_NS: u64 = 300_000;

/// Packets kept back at a time; a longer queue loses what comes, as a switch would.
const MOST_DELAYED: usize = 65536;

#[derive(Debug)]
pub struct Injector {
    injection: Injection,
    random: u64,
    delayed: BinaryHeap<Reverse<DelayedPacket>>,
    /// Number of packets ever kept: those of the same time leave in their order.
    order: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DelayedPacket {
    due: u64,
    order: u64,
    destination: Ipv4Addr,
    bytes: Vec<u8>,
}

impl Injector {
    pub fn new(injection: Injection) -> Injector {
        Injector {
            injection,
            random: injection.seed,
            delayed: BinaryHeap::new(),
            order: 0,
        }
    }

    /// Does it change anything?
    pub fn is_idle(&self) -> bool {
        let Injection { seed, .. } = self.injection;
        let harmless = Injection {
            seed,
            ..Injection::default()
        };
        self.injection == harmless && self.delayed.is_empty()
    }

    /// Cuts the link, or mends it.
    pub fn set_link_down(&mut self, down: bool) {
        self.injection.link_down = down;
    }

    /// Takes all of `batch` and puts what gets through at once into `out`.
    pub fn pass(&mut self, now: u64, batch: &mut Batch, out: &mut Batch) {
        for (destination, bytes) in batch.iter() {
            let copies = 1 + u32::from(self.happens(self.injection.duplicate));
            for _ in 0..copies {
                if self.injection.link_down || self.happens(self.injection.loss) {
                    continue;
                }
                let mut delay = u64::from(self.injection.delay_us) * 1000;
                if self.happens(self.injection.reorder) {
                    delay += REORDER_NS;
                }
                if delay == 0 {
                    out.push_raw(destination, bytes);
                } else if self.delayed.len() < MOST_DELAYED {
                    self.delay_packet(now + delay, destination, bytes);
                }
            }
        }
        batch.clear();
    }

    fn delay_packet(&mut self, due: u64, destination: Ipv4Addr, bytes: &[u8]) {
        self.order += 1;
        self.delayed.push(Reverse(DelayedPacket {
            due,
            order: self.order,
            destination,
            bytes: bytes.to_vec(),
        }));
    }

    /// When the next packet that was kept back leaves.
    pub fn deadline(&self) -> Option<u64> {
        self.delayed.peek().map(|Reverse(delayed)| delayed.due)
    }

    /// When the last of them does.
    pub fn last_deadline(&self) -> Option<u64> {
        self.delayed
            .iter()
            .map(|Reverse(delayed)| delayed.due)
            .max()
    }

    /// Puts what leaves by now into `out`.
    pub fn release(&mut self, now: u64, out: &mut Batch) {
        while let Some(top) = self.delayed.peek_mut()
            && top.0.due <= now
        {
            let Reverse(delayed) = PeekMut::pop(top);
            if !self.injection.link_down {
                out.push_raw(delayed.destination, &delayed.bytes);
            }
        }
    }

    fn happens(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        // The upper 53 bits are a number from 0 to 1.
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        unit < probability
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
