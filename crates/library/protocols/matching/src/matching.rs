//! The two sides together.

#[cfg(test)]
mod tests;

use crate::key::{Key, Wildcards};
use crate::low_water::SAMPLE_OPERATIONS;
use crate::pending::FETCHED_FROM;
use crate::posted::Posted;
use crate::steps::Counter;
use crate::unexpected::{POSTED_TOGETHER, Unexpected};
use crate::{Envelope, NIL, Pattern, PostedId, Steps, UnexpectedId};

/// Parts that upkeep turns to: four tables and an arena on each side.
const PARTS: u8 = 10;
/// Operations between two turns of upkeep, but for those on few posted receives.
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

impl Default for Prepared {
    /// Nowhere.
    fn default() -> Self {
        Prepared([NIL; 4])
    }
}

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
    /// Allocates the array of a few posted receives.
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
        if self.unexpected.cells.len() != 0
            && let Some((envelope, unexpected)) = self.take_for_post(Key::of_pattern(&pattern))
        {
            return Post::Matched {
                envelope,
                unexpected,
                posted,
            };
        }
        Post::Queued(self.queue(pattern, posted))
    }

    /// Queues a receive which is known to accept none of the unexpected messages, as when there are none.
    #[inline(always)]
    pub fn queue(&mut self, pattern: Pattern, posted: P) -> PostedId {
        let (mut id, checks) = self.posted.push(pattern, posted);
        if checks {
            id.cell = self.check_few();
        } else {
            self.counter.singles += 1;
        }
        id
    }

    /// Returns the cell of the youngest posted receive, or `NIL` where it is still in the array. A check comes after at
    /// least 32 posts, and has a turn of upkeep each time.
    #[inline(never)]
    fn check_few(&mut self) -> u32 {
        let mut steps = 0;
        if !self.posted.stay_few(&mut steps) {
            return self.leave_few();
        }
        self.counter.singles += 1;
        steps += self.upkeep_turn();
        self.counter.add(steps);
        NIL
    }

    #[inline(never)]
    fn leave_few(&mut self) -> u32 {
        let mut steps = 0;
        let cell = self.posted.leave_few(&mut steps);
        self.finish(steps);
        cell
    }

    #[inline(never)]
    fn take_for_post(&mut self, key: Key) -> Option<(Envelope, U)> {
        let mut steps = 0;
        let taken = self.unexpected.take(key, &mut steps);
        match taken {
            Some(_) => self.finish(steps),
            // The operation goes on.
            None => self.counter.add(steps),
        }
        taken
    }

    /// A message arrives: takes the oldest posted receive that accepts it. After `None` the caller either handles the
    /// message itself or calls [`Matching::enqueue`].
    #[inline]
    pub fn arrive(&mut self, envelope: Envelope) -> Option<P> {
        match self.arrive_in_order(&envelope) {
            None => self.arrive_searching(envelope),
            found => found,
        }
    }

    /// As [`Matching::arrive`], if few receives wait and the oldest of them is for messages of exactly this envelope: the
    /// commonest case. After `None`, [`Matching::arrive_searching`] comes next.
    #[inline(always)]
    pub fn arrive_in_order(&mut self, envelope: &Envelope) -> Option<P> {
        let taken = self.posted.few.take_first(envelope);
        if taken.is_some() {
            self.counter.singles += 1;
        }
        taken
    }

    /// As [`Matching::arrive`], for a message that is not for the first of few receives.
    #[inline(never)]
    pub fn arrive_searching(&mut self, envelope: Envelope) -> Option<P> {
        let mut steps = 0;
        if self.posted.few.first().is_some() {
            let taken = self.posted.few.take_accepting(&envelope, &mut steps);
            self.counter.singles += 1;
            self.counter.add(steps);
            taken
        } else if self.posted.cells.len() != 0 {
            let taken = self.posted.take(Key::of_envelope(&envelope), &mut steps);
            self.finish(steps);
            taken
        } else {
            self.counter.singles += 1;
            None
        }
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
            return Prepared::default();
        }
        Prepared(self.posted.first_looks(Key::of_envelope(envelope)))
    }

    /// Second stage: has the cells fetched.
    #[inline]
    pub fn prefetch(&self, prepared: &Prepared) {
        for head in prepared.0 {
            self.posted.cells.fetch(head);
        }
    }

    /// Third stage: the payloads of posted receives that may be for the message, for what they refer to to be fetched.
    #[inline]
    pub fn candidates<'a>(&'a self, prepared: &'a Prepared) -> impl Iterator<Item = &'a P> + 'a {
        let cells = prepared.0.iter().filter(|&&head| head != NIL);
        cells.filter_map(|&head| self.posted.cells.get(head)?.value())
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

    /// Whether looking ahead is of any use: posted receives that are not many stand in the cache anyway.
    #[inline]
    pub fn prefetches(&self) -> bool {
        self.posted.cells.len() >= FETCHED_FROM
    }

    /// Whether receives should be posted some together: [`Matching::prepare_post`] for each when it comes, then
    /// [`Matching::prefetch_posts`] for all, then [`Matching::post`] for each. A few unexpected messages stand in the
    /// cache, and looking one of them up is no wait.
    #[inline(always)]
    pub fn posts_together(&self) -> bool {
        self.unexpected.cells.len() >= FETCHED_FROM
    }

    /// First stage for a receive that will be posted soon: has the bucket fetched that it will look in.
    #[inline]
    pub fn prepare_post(&self, pattern: &Pattern) {
        self.unexpected.fetch_bucket(Key::of_pattern(pattern));
    }

    /// Second stage, for receives that will be posted now: has fetched what taking their messages will touch, so that
    /// their cache misses overlap.
    pub fn prefetch_posts(&self, patterns: &[Pattern]) {
        for some in patterns.chunks(POSTED_TOGETHER) {
            let mut keys = [Key::of_pattern(&some[0]); POSTED_TOGETHER];
            for (key, pattern) in keys.iter_mut().zip(some) {
                *key = Key::of_pattern(pattern);
            }
            self.unexpected.fetch_messages(&keys[..some.len()]);
        }
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

    /// Ends an operation that did `steps`. Those on few posted receives only count themselves: see
    /// [`Matching::check_few`].
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
            turn @ 0..4 => self.posted.upkeep_table(Wildcards::ALL[usize::from(turn)]),
            4 => self.posted.cells.upkeep(),
            turn @ 5..9 => self
                .unexpected
                .upkeep_table(Wildcards::ALL[usize::from(turn - 5)]),
            _ => self.unexpected.cells.upkeep(),
        };
        // What gives memory back keeps its turn until it is through.
        if !upkeep.unfinished {
            self.turn = (self.turn + 1) % PARTS;
        }
        upkeep.steps
    }
}
