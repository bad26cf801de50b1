//! Messages of a process to itself: they go through matching, not through a transport.

use weft_matching::Envelope;
use weft_memory::Memory;

use crate::pending::Pending;
use crate::slot::{Outcome, awaits, flag};
use crate::state::Core;
use crate::unexpected::{Payload, Unexpected};

impl Core {
    /// Sends to this process: into a posted receive, or kept until one is posted. A standard-mode message of
    /// up to `eager_limit` bytes is copied, so that the send completes at once.
    pub fn send_to_self(&mut self, send: Pending, eager_limit: usize) {
        let cookie = self.slots.id(send.index()).bits();
        let me = self.me;
        let cells = self.cells(send);
        let (bytes, synchronous) = (cells.bytes, cells.has(flag::SYNCHRONOUS));
        let envelope = Envelope {
            context: cells.context,
            source: cells.source,
            tag: cells.tag,
        };
        if cells.has(flag::FAILED) {
            let payload = Payload::Failed(cells.extra().failure);
            self.arrived(
                envelope,
                Unexpected {
                    payload,
                    peer: me,
                    synchronous: false,
                    cookie,
                },
            );
            return self.complete(send);
        }
        if let Some(posted) = self.matching.arrive(envelope) {
            let pending = posted.pending();
            let receive = self.cells(pending);
            receive.outcome = Outcome::received(
                envelope.source,
                envelope.tag,
                bytes as u64,
                receive.bytes as u64,
            );
            let taken = receive.outcome.bytes as usize;
            return self.copy_to_self(send, pending, taken);
        }
        let kept = synchronous || bytes > eager_limit;
        let payload = if kept {
            Payload::ToSelf {
                slot: send,
                bytes: bytes as u64,
            }
        } else {
            let mut copy = vec![0; bytes];
            self.cells(send).read(0, &mut copy);
            Payload::store(&copy)
        };
        self.store(
            envelope,
            Unexpected {
                payload,
                peer: me,
                synchronous,
                cookie,
            },
        );
        if kept {
            self.announce(send, awaits::ACK);
        } else {
            self.complete(send);
        }
    }

    /// Copies between two buffers of this process and completes both requests.
    pub fn copy_to_self(&mut self, send: Pending, receive: Pending, taken: usize) {
        let source = self.cells(send).memory();
        let target = self.cells(receive).memory();
        if source.layout.is_none() && target.layout.is_none() {
            // SAFETY: both buffers are the library's until their requests complete (MPI-5.0 §3.7.2), `taken` is
            // within both, and a correct program's send and receive buffers do not overlap; `copy` stands it.
            unsafe { weft_memory::copy(source.base, target.base, taken) };
        } else {
            copy_by_windows(&source, &target, taken);
        }
        self.in_flight.remove(&send);
        self.complete(send);
        self.complete(receive);
    }
}

/// Bytes of a window: a page, which stays in a core's cache.
const WINDOW: usize = 4096;

/// Copies `taken` packed bytes. Either side may be strided, and a packed window is all that a layout copies.
fn copy_by_windows(source: &Memory, target: &Memory, taken: usize) {
    // Not on the stack, which may be small.
    let mut window = vec![0; taken.min(WINDOW)];
    let mut offset = 0;
    while offset < taken {
        let step = WINDOW.min(taken - offset);
        // SAFETY: both buffers are the library's until their requests complete (MPI-5.0 §3.7.2); offset and step stay
        // within both packed lengths.
        unsafe {
            source.read(offset, &mut window[..step]);
            target.write(offset, &window[..step]);
        }
        offset += step;
    }
}
