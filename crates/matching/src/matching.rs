//! The two sides together.

#[cfg(test)]
mod tests;

use crate::key::{Key, Kind};
use crate::low_water::SAMPLE_OPERATIONS;
use crate::posted::Posted;
use crate::steps::Counter;
use crate::unexpected::Unexpected;
use crate::{Envelope, NIL, Pattern, PostedId, Steps, UnexpectedId};

/// Parts that upkeep turns to: four tables and an arena on each side.
const PARTS: u8 = 10;
/// Operations between two turns of upkeep.
const UPKEEP_OPERATIONS: u64 = 16;
const _: () = assert!(SAMPLE_OPERATIONS as u64 == PARTS as u64 * UPKEEP_OPERATIONS);

/// What became of a posted receive.
#[derive(Debug, PartialEq, Eq)]
pub enum Post<P, U> {
    /// A message was there already: the oldest that the receive accepts.
    Matched {
        envelope: Envelope,
        unexpected: U,
        posted: P,
    },
    /// The receive waits.
    Queued(PostedId),
}

/// Where an arrival will look; see [`Matching::prepare`].
#[derive(Clone, Copy, Debug)]
pub struct Prepared([u32; 4]);

/// Posted receives with payload `P` and unexpected messages with payload `U`.
///
/// A cell is 64 bytes for a `P` of up to 32 bytes and 128 bytes for a `U` of up to 56 bytes. Every payload comes back
/// exactly once, or is dropped with the whole.
pub struct Matching<P, U> {
    posted: Posted<P>,
    unexpected: Unexpected<U>,
    counter: Counter,
    /// The part that the next turn of upkeep is for.
    turn: u8,
}

impl<P, U> Default for Matching<P, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P, U> Matching<P, U> {
    /// Allocates nothing.
    pub fn new() -> Self {
        Matching {
            posted: Posted::new(),
            unexpected: Unexpected::new(),
            counter: Counter::default(),
            turn: 0,
        }
    }

    /// Posts a receive: gives it the oldest unexpected message that it accepts, or queues it.
    #[inline(always)]
    pub fn post(&mut self, pattern: Pattern, posted: P) -> Post<P, U> {
        if self.unexpected.cells.len() != 0 {
            return self.post_beside_unexpected(pattern, posted);
        }
        Post::Queued(if self.posted.few.has_place() {
            self.counter.singles += 1;
            self.posted.push_few(pattern, posted)
        } else {
            self.post_past_few(pattern, posted)
        })
    }

    #[inline(never)]
    fn post_past_few(&mut self, pattern: Pattern, posted: P) -> PostedId {
        let mut steps = 0;
        let id = self.posted.push(pattern, posted, &mut steps);
        self.finish(steps);
        id
    }

    #[inline(never)]
    fn post_beside_unexpected(&mut self, pattern: Pattern, posted: P) -> Post<P, U> {
        let mut steps = 0;
        let post = match self.unexpected.take(Key::of_pattern(&pattern), &mut steps) {
            Some((envelope, unexpected)) => Post::Matched {
                envelope,
                unexpected,
                posted,
            },
            None => Post::Queued(self.posted.push(pattern, posted, &mut steps)),
        };
        self.finish(steps);
        post
    }

    /// A message arrives: takes the oldest posted receive that accepts it. After `None` the caller either handles the
    /// message itself or calls [`Matching::enqueue`].
    #[inline(always)]
    pub fn arrive(&mut self, envelope: Envelope) -> Option<P> {
        debug_assert!(
            envelope.is_valid(),
            "a message has a source and a tag: {envelope:?}"
        );
        if let Some(place) = self.posted.few.first() {
            if self.posted.few.accepts(place, &envelope) {
                self.counter.singles += 1;
                return self.posted.few.take_first(place);
            }
            return self.arrive_at_later(envelope);
        }
        if self.posted.cells.len() == 0 {
            self.counter.singles += 1;
            return None;
        }
        self.arrive_at_tables(envelope)
    }

    #[inline(never)]
    fn arrive_at_later(&mut self, envelope: Envelope) -> Option<P> {
        let mut steps = 0;
        let posted = self.posted.few.take_later(&envelope, &mut steps);
        self.counter.singles += 1;
        self.counter.add(steps);
        posted
    }

    #[inline(never)]
    fn arrive_at_tables(&mut self, envelope: Envelope) -> Option<P> {
        let mut steps = 0;
        let posted = self.posted.take(Key::of_envelope(&envelope), &mut steps);
        self.finish(steps);
        posted
    }

    /// Keeps a message for which [`Matching::arrive`] found no receive.
    pub fn enqueue(&mut self, envelope: Envelope, unexpected: U) -> UnexpectedId {
        let mut steps = 0;
        let id = self
            .unexpected
            .push(Key::of_envelope(&envelope), unexpected, &mut steps);
        self.finish(steps);
        id
    }

    /// The oldest unexpected message that a receive of `pattern` would get (MPI-5.0 §3.8.1). It stays.
    pub fn peek(&self, pattern: Pattern) -> Option<(UnexpectedId, Envelope, &U)> {
        let key = Key::of_pattern(&pattern);
        self.unexpected.peek(key)
    }

    /// Takes the oldest unexpected message that a receive of `pattern` would get (MPI-5.0 §3.8.2).
    pub fn take(&mut self, pattern: Pattern) -> Option<(Envelope, U)> {
        let mut steps = 0;
        let key = Key::of_pattern(&pattern);
        let taken = self.unexpected.take(key, &mut steps);
        self.finish(steps);
        taken
    }

    /// Takes back a posted receive. `None` if it has been matched or cancelled.
    pub fn cancel(&mut self, id: PostedId) -> Option<P> {
        let mut steps = 0;
        let posted = self.posted.cancel(id, &mut steps);
        self.finish(steps);
        posted
    }

    /// Takes an unexpected message out. `None` if it has been taken.
    pub fn remove(&mut self, id: UnexpectedId) -> Option<(Envelope, U)> {
        let mut steps = 0;
        let removed = self.unexpected.remove(id, &mut steps);
        self.finish(steps);
        removed
    }

    pub fn unexpected(&self, id: UnexpectedId) -> Option<&U> {
        self.unexpected.get(id)
    }

    pub fn unexpected_mut(&mut self, id: UnexpectedId) -> Option<&mut U> {
        self.unexpected.get_mut(id)
    }

    /// First stage for a message that will arrive soon: reads its buckets. For a batch of messages, call this for all,
    /// then [`Matching::prefetch`] for all, then [`Matching::arrive`] for each: the cache misses of a stage overlap.
    /// The result is a hint; anything may happen to the structure before it is used.
    #[inline]
    pub fn prepare(&self, envelope: &Envelope) -> Prepared {
        if !self.prefetches() {
            return Prepared([NIL; 4]);
        }
        Prepared(self.posted.first_looks(Key::of_envelope(envelope)))
    }

    /// Second stage: reads the cells.
    #[inline]
    pub fn prefetch(&self, prepared: &Prepared) {
        for head in prepared.0 {
            if head != NIL
                && let Some(cell) = self.posted.cells.get(head)
            {
                // A plain read stands in for the prefetch instruction, which is unsafe in Rust.
                std::hint::black_box(cell.key().tag);
            }
        }
    }

    /// Both stages for one message.
    #[inline]
    pub fn prefetch_arrival(&self, envelope: &Envelope) {
        if self.prefetches() {
            self.prefetch_from_tables(envelope);
        }
    }

    #[inline(never)]
    fn prefetch_from_tables(&self, envelope: &Envelope) {
        self.prefetch(&self.prepare(envelope));
    }

    /// Whether looking ahead is of any use: few posted receives stand in the cache anyway.
    #[inline]
    pub fn prefetches(&self) -> bool {
        self.posted.cells.len() != 0
    }

    /// Posted receives that wait.
    #[inline]
    pub fn posted_len(&self) -> usize {
        self.posted.len()
    }

    /// Unexpected messages that wait.
    #[inline]
    pub fn unexpected_len(&self) -> usize {
        self.unexpected.cells.len() as usize
    }

    /// All posted receives that wait, in no order; their identifiers sort by time.
    pub fn posted_iter(&self) -> impl Iterator<Item = (PostedId, Pattern, &P)> {
        self.posted.iter()
    }

    /// All unexpected messages that wait, in no order; their identifiers sort by time.
    pub fn unexpected_iter(&self) -> impl Iterator<Item = (UnexpectedId, Envelope, &U)> {
        self.unexpected.iter()
    }

    pub fn steps(&self) -> Steps {
        self.counter.steps()
    }

    /// Bytes held on the heap, without what the payloads own.
    pub fn bytes(&self) -> usize {
        self.posted.bytes() + self.unexpected.bytes()
    }

    /// Ends an operation that did `steps`, but for the operations on few posted receives: those end by counting
    /// themselves. Every so many of them one comes here, which is enough for upkeep.
    #[inline(always)]
    fn finish(&mut self, steps: u32) {
        self.counter.operations += 1;
        let upkeep = if self.counter.operations.is_multiple_of(UPKEEP_OPERATIONS) {
            self.upkeep_turn()
        } else {
            0
        };
        if steps + upkeep > 1 {
            self.counter.add(steps + upkeep);
        }
    }

    /// One turn of upkeep: a bounded amount of work that finds out whether memory lies idle and gives it back. Operations
    /// do this by themselves, after their own work, at most one turn each; a caller that has nothing else to do may, so
    /// that memory comes back without them.
    pub fn upkeep(&mut self) {
        let steps = self.upkeep_turn();
        self.counter.add(steps);
    }

    #[inline(never)]
    fn upkeep_turn(&mut self) -> u32 {
        let upkeep = match self.turn {
            turn @ 0..4 => self.posted.upkeep_table(Kind::ALL[usize::from(turn)]),
            4 => self.posted.cells.upkeep(),
            turn @ 5..9 => self
                .unexpected
                .upkeep_table(Kind::ALL[usize::from(turn - 5)]),
            _ => self.unexpected.cells.upkeep(),
        };
        // What gives memory back keeps its turn until it is through.
        if !upkeep.unfinished {
            self.turn = (self.turn + 1) % PARTS;
        }
        upkeep.steps
    }
}
