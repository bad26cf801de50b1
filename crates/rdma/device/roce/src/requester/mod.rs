//! The requester: send requests become packets, acknowledgements and read responses end them.
//!
//! Places (see [`Sequence`]) of everything posted, in order:
//! ```text
//!   done │ acknowledged ──── in flight ──── cursor ──── to be sent (again up to `sent`) ──── posted
//! ```
//! 1. A send request owns the positions `first .. first + packets` from its posting on. A READ owns one for each packet of
//!    its response, and its request is sent in chunks, of positions that are fixed when it is posted, each a READ of its own to the responder. So the
//!    window bounds read responses too, and a chunk asked for again ends where it ended the first time, as a
//!    responder that knows the first may demand.
//! 2. `acknowledged` grows over a READ or an atomic only by its response; over all else by any acknowledgement from there
//!    on. An acknowledgement behind a missing response is an implied NAK.
//! 3. What was lost is sent again from there on, with everything behind it (go-back-N): only `cursor` moves. A responder that says what
//!    it holds behind the loss gets the rest alone (`selective`), and the cursor stays.
//! 4. Requests end in order; the first that fails ends all behind it as flushed.

mod answer;
mod emit;
mod retry;
mod selective;
#[cfg(test)]
mod tests;
mod window;
pub(crate) mod work;

use std::collections::VecDeque;

use self::retry::Retry;
use self::selective::Selective;
use self::window::Window;
use super::host::{Fault, Host, SendDone, Status};
use super::link::Link;
use super::packet::Service;
use super::sequence::Sequence;
use work::Work;

/// The attributes of RTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequesterConfig {
    /// `sq_psn`
    pub psn: u32,
    /// Exponent of the local ACK time-out; 0 waits for ever.
    pub timeout: u8,
    pub retry_count: u8,
    /// 7 tries for ever.
    pub rnr_retry: u8,
    pub max_rd_atomic: u8,
    /// Packets that may be in flight: what the sockets on the way hold ([`Port::window`](crate::Port::window)).
    pub window: u64,
    /// Tells the responder, if it is of our kind, that it may keep what comes behind a loss.
    pub selective: bool,
}

#[derive(Debug)]
struct Queued {
    work: Work,
    first: u64,
    packets: u64,
    /// Packets of a READ's response that one request asks for.
    read_chunk: u64,
}

/// A chunk's first and last packets are longer than those between, which alone go to the kernel as one datagram: long chunks are cheap to
/// send. So that one is on its way while others are answered, several fit into the window; where packets get lost that is short, and
/// little of what follows a loss has been sent in vain.
const CHUNKS_IN_WINDOW: u64 = 4;
const LEAST_CHUNK_PACKETS: u64 = 32;

impl Queued {
    fn end(&self) -> u64 {
        self.first + self.packets
    }

    /// Packets from this position to the end of its chunk.
    fn read_packets(&self, position: u64) -> u64 {
        let index = position - self.first;
        let chunk_end = (index / self.read_chunk + 1) * self.read_chunk;
        chunk_end.min(self.packets) - index
    }

    fn begins_read_chunk(&self, position: u64) -> bool {
        (position - self.first).is_multiple_of(self.read_chunk)
    }
}

#[derive(Debug)]
pub(super) struct Requester {
    link: Link,
    sequence: Sequence,
    max_rd_atomic: usize,
    queue: VecDeque<Queued>,
    acknowledged: u64,
    /// The next position to send, and where in `queue` its request stands (its length if there is none).
    cursor: u64,
    cursor_index: usize,
    /// One past the last position ever sent.
    sent: u64,
    posted: u64,
    /// Ends of the READ chunks and atomics in flight, in order.
    reads: VecDeque<u64>,
    window: Window,
    retry: Retry,
    /// Whether the responder may keep what comes behind a loss.
    is_selective: bool,
    selective: Selective,
    /// The request at the cursor cannot be sent: it fails when all before it are done.
    poison: Option<Status>,
    /// The response that was last missed.
    implied_nak: Option<u64>,
    failed: bool,
}

impl Requester {
    pub fn new(link: Link, config: RequesterConfig) -> Requester {
        Requester {
            link,
            sequence: Sequence::new(config.psn),
            max_rd_atomic: usize::from(config.max_rd_atomic),
            queue: VecDeque::new(),
            acknowledged: 0,
            cursor: 0,
            cursor_index: 0,
            sent: 0,
            posted: 0,
            reads: VecDeque::new(),
            window: Window::new(config.window),
            retry: Retry::new(config.timeout, config.retry_count, config.rnr_retry),
            is_selective: config.selective && link.service == Service::Reliable,
            selective: Selective::default(),
            poison: None,
            implied_nak: None,
            failed: false,
        }
    }

    pub fn post(&mut self, work: Work, host: &mut impl Host) {
        if self.failed {
            host.send_done(work.flushed());
            return;
        }
        let packets = self.link.packets(work.bytes());
        self.queue.push_back(Queued {
            work,
            first: self.posted,
            packets,
            read_chunk: (self.window.packets() / CHUNKS_IN_WINDOW).max(LEAST_CHUNK_PACKETS),
        });
        self.posted += packets;
    }

    pub fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn next_psn(&self) -> u32 {
        self.sequence.psn(self.sent)
    }

    pub fn flush(&mut self, host: &mut impl Host) {
        self.failed = true;
        self.poison = None;
        self.reads.clear();
        self.retry.stop();
        for queued in self.queue.drain(..) {
            host.send_done(queued.work.flushed());
        }
    }

    /// Ends the oldest request in this way, and the queue with it.
    fn fail(&mut self, status: Status, host: &mut impl Host) {
        if let Some(queued) = self.queue.pop_front() {
            host.send_done(SendDone {
                token: queued.work.token,
                status,
                bytes: 0,
            });
        }
        self.flush(host);
        host.fail(Fault::Requester);
    }

    /// The request at the cursor cannot be sent; those before it go on.
    fn poison(&mut self, status: Status, host: &mut impl Host) {
        self.poison = Some(status);
        self.settle_poison(host);
    }

    fn settle_poison(&mut self, host: &mut impl Host) {
        if let Some(status) = self.poison
            && self.cursor_index == 0
        {
            self.fail(status, host);
        }
    }

    /// Moves the cursor to this position.
    fn seek(&mut self, position: u64) {
        self.cursor = position;
        self.cursor_index = self
            .queue
            .partition_point(|queued| queued.end() <= position);
        self.poison = None;
    }

    /// Sends again from here on.
    fn go_back(&mut self, position: u64) {
        self.seek(position);
        self.selective.go_back();
        while self.reads.pop_back_if(|end| *end > position).is_some() {}
        self.retry.forget_sample();
    }

    /// The oldest request is done.
    fn complete(&mut self, host: &mut impl Host) {
        if let Some(queued) = self.queue.pop_front() {
            self.cursor_index = self.cursor_index.saturating_sub(1);
            host.send_done(SendDone {
                token: queued.work.token,
                status: Status::Success,
                bytes: queued.work.bytes() as u32,
            });
        }
    }

    /// UC: what was sent is done.
    fn complete_sent(&mut self, host: &mut impl Host) {
        while self.queue.front().is_some_and(|q| q.end() <= self.cursor) {
            self.complete(host);
        }
        self.acknowledged = self.cursor;
    }

    fn is_reliable(&self) -> bool {
        self.link.service != Service::Unreliable
    }
}
