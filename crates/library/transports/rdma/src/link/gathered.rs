//! Packets that leave as one frame.
//!
//! Short packets to one peer that are sent in one turn, or in a burst whose packets wait for the next, are put together, all but the first:
//! a frame costs a request, a buffer of the peer's and, by an adapter, a packet and an acknowledgement, whatever is in it.

use super::Link;
use super::queued::{Gathered, Queued};
use crate::frame::{FrameKind, gathered_bytes, put_gathered};
use crate::send_queue::{Posting, SendQueues};

/// A frame of several packets is as long as this at most, and as the longest of the peer's buffers that are no longer.
const FRAME_BYTES: usize = 4096;
/// A packet that takes more bytes of such a frame leaves by itself.
const PACKET_BYTES: usize = FRAME_BYTES / 4;

impl Link {
    /// Whether a packet of `bytes` may leave together with others: one at least has been sent that has not left.
    pub fn gathers(&self, bytes: usize) -> bool {
        self.is_active && gathered_bytes(bytes) <= PACKET_BYTES
    }

    /// Whether another packet of `bytes` finds room beside those that are put together.
    pub fn holds(&self, bytes: usize) -> bool {
        let gathered = self.gathered.as_ref();
        gathered.is_some_and(|gathered| gathered.bytes + gathered_bytes(bytes) <= gathered.most)
    }

    /// Begins to put packets together, the first of `bytes`, if there is a place for the longest frame that they may become.
    pub fn begin_gathering(&mut self, bytes: usize, queues: &SendQueues, posting: &mut Posting) {
        let most = self.path.longest_within(FRAME_BYTES);
        if most < gathered_bytes(bytes) || !self.has_place(most, queues) || !posting.has_room() {
            return;
        }
        self.gathered = posting.sends.take_for_bulk().map(|piece| Gathered {
            piece,
            bytes: 0,
            most,
        });
    }

    /// Puts a packet, for which there is room, to the others. Where its payload goes.
    pub fn gather<'a>(
        &mut self,
        words: [u64; 2],
        bytes: usize,
        posting: &'a mut Posting,
    ) -> Option<&'a mut [u8]> {
        let gathered = self.gathered.as_mut()?;
        let from = gathered.bytes;
        gathered.bytes += gathered_bytes(bytes);
        let frame = posting.sends.bytes(gathered.piece, gathered.bytes);
        Some(put_gathered(words, bytes, &mut frame[from..]))
    }

    /// Pushes what was put together, or has it wait for a place. The queue pair that ought to be posted to now, if any.
    pub fn end_gathering(&mut self, queues: &mut SendQueues) -> Option<usize> {
        let bytes = self.gathered.as_ref()?.bytes;
        match self.path.smallest(bytes) {
            Some(way) if self.has_place(bytes, queues) => {
                let piece = self.gathered.take()?.piece;
                let part = (piece, 0, bytes, true);
                self.push_frame(way, FrameKind::Packets, None, part, queues)
            }
            _ => {
                self.keep_gathered();
                None
            }
        }
    }

    /// Queues the frame that was begun, behind the frames that wait for a place.
    pub(super) fn keep_gathered(&mut self) {
        if let Some(Gathered { piece, bytes, .. }) = self.gathered.take() {
            self.queue.push_back(Queued::Part {
                kind: FrameKind::Packets,
                piece,
                offset: 0,
                bytes,
                is_last: true,
            });
            self.parts += 1;
        }
    }
}
