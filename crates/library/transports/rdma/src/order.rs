//! The order of a link's frames, which come by several queue pairs.

use std::collections::BTreeMap;

use crate::frame::{FrameKind, Malformed, SEQUENCE_END};

/// Frames that may have come before one that was sent earlier: what is under way on all queue pairs of a link is less.
const MOST_EARLY: usize = 4096;
/// And their bytes: as much as a peer's unexpected payload may be on a lane. A frame that waits for a buffer is sent again within a
/// millisecond, in which an adapter of 100 Gbit/s brings less.
const MOST_EARLY_BYTES: usize = 16 << 20;

/// A frame that came before one that was sent earlier. Its bytes are copied: were they to stay in their buffer, two pools could
/// each be full of frames that wait for one of the other pool.
struct Early {
    kind: FrameKind,
    frame: Vec<u8>,
}

/// When a frame's turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Now,
    /// It is to be [kept](Order::keep).
    Later,
    /// It has come before.
    Past,
}

#[derive(Default)]
pub struct Order {
    /// The number of the frame whose turn is next.
    next: u32,
    early: BTreeMap<u32, Early>,
    early_bytes: usize,
}

impl Order {
    /// Frame `sequence` has come. If its turn is now, the next one's is after it.
    #[inline]
    pub fn come(&mut self, sequence: u32) -> Turn {
        if sequence == self.next {
            self.next = (sequence + 1) % SEQUENCE_END;
            return Turn::Now;
        }
        let ahead = sequence.wrapping_sub(self.next) % SEQUENCE_END;
        match ahead < SEQUENCE_END / 2 && !self.early.contains_key(&sequence) {
            true => Turn::Later,
            false => Turn::Past,
        }
    }

    /// Keeps a frame until its turn.
    pub fn keep(&mut self, sequence: u32, kind: FrameKind, frame: &[u8]) -> Result<(), Malformed> {
        let bytes = self.early_bytes + frame.len();
        if self.early.len() == MOST_EARLY || bytes > MOST_EARLY_BYTES {
            return Err(Malformed("frames that leave out one before them"));
        }
        self.early_bytes = bytes;
        let frame = frame.to_vec();
        self.early.insert(sequence, Early { kind, frame });
        Ok(())
    }

    /// A frame that was kept and whose turn is now.
    #[inline]
    pub fn take(&mut self) -> Option<(FrameKind, Vec<u8>)> {
        if self.early.is_empty() {
            return None;
        }
        let Early { kind, frame } = self.early.remove(&self.next)?;
        self.early_bytes -= frame.len();
        self.next = (self.next + 1) % SEQUENCE_END;
        Some((kind, frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Random;

    /// What comes of frames that arrive so.
    fn taken(order: &mut Order, arrivals: &[u32]) -> Vec<u32> {
        let mut taken = Vec::new();
        for &sequence in arrivals {
            match order.come(sequence) {
                Turn::Now => taken.push(sequence),
                Turn::Later => order
                    .keep(sequence, FrameKind::Packet, &sequence.to_le_bytes())
                    .unwrap(),
                Turn::Past => {}
            }
            while let Some((kind, frame)) = order.take() {
                assert_eq!(kind, FrameKind::Packet);
                taken.push(u32::from_le_bytes(frame.try_into().unwrap()));
            }
        }
        taken
    }

    #[test]
    fn any_order_becomes_that_of_sending() {
        let mut random = Random(3);
        for begin in [0, SEQUENCE_END - 30] {
            for _ in 0..100 {
                let mut order = Order {
                    next: begin,
                    ..Order::default()
                };
                let sent: Vec<u32> = (0..60).map(|n| (begin + n) % SEQUENCE_END).collect();
                let mut arrivals = sent.clone();
                for last in (1..arrivals.len()).rev() {
                    arrivals.swap(last, random.below(last as u64 + 1) as usize);
                }
                // Some come twice.
                arrivals.extend_from_within(20..30);
                assert_eq!(taken(&mut order, &arrivals), sent);
                assert!(order.early.is_empty() && order.early_bytes == 0);
            }
        }
    }

    #[test]
    fn a_peer_that_leaves_one_out_is_not_given_memory_for_ever() {
        for (most, frame) in [(MOST_EARLY, &[][..]), (1024, &[0; 16 << 10][..])] {
            let mut order = Order::default();
            for sequence in 1..=most as u32 {
                order.keep(sequence, FrameKind::Packet, frame).unwrap();
            }
            let one_more = order.keep(most as u32 + 1, FrameKind::Packet, frame);
            assert!(one_more.is_err());
        }
    }
}
