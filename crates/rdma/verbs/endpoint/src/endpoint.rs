//! What one thread drives: its own queue pairs, or its part of shared ones.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use weft_verbs::{
    Completion, CompletionQueue, Connection, ParentDomain, PostError, ProtectionDomain, QueuePair,
    SendList, SoleQueues, ThreadDomain,
};

use crate::address::{Port, QueuePairAddress};
use crate::tally::{self, Tag, Tally};
use crate::{Error, Slot};

/// Queue pairs by what they share, and the completion queues that they report to.
pub(crate) enum Queues {
    /// In thread domains: no lock.
    Promised(Vec<QueuePair<ParentDomain>>, Vec<CompletionQueue>),
    /// One thread's, each with a lock that nobody else takes.
    Own(Vec<QueuePair>, Vec<CompletionQueue>),
    /// Several threads'.
    Shared(Vec<Arc<QueuePair>>, Vec<CompletionQueue>),
    /// As the first two, with completion queues that have no lock; queue pair `i` is in number `i` modulo their number.
    PromisedSole(Vec<SoleQueues<ParentDomain>>),
    OwnSole(Vec<SoleQueues<ProtectionDomain>>),
}

impl Queues {
    pub fn number(&self, queue: usize) -> u32 {
        match self {
            Queues::Promised(pairs, _) => pairs[queue].number(),
            Queues::Own(pairs, _) => pairs[queue].number(),
            Queues::Shared(pairs, _) => pairs[queue].number(),
            Queues::PromisedSole(sets) => sets[queue % sets.len()].number(queue / sets.len()),
            Queues::OwnSole(sets) => sets[queue % sets.len()].number(queue / sets.len()),
        }
    }

    fn connect(&self, queue: usize, to: &Connection) -> Result<(), weft_verbs::Error> {
        match self {
            Queues::Promised(pairs, _) => pairs[queue].connect(to),
            Queues::Own(pairs, _) => pairs[queue].connect(to),
            Queues::Shared(pairs, _) => pairs[queue].connect(to),
            Queues::PromisedSole(sets) => sets[queue % sets.len()].connect(queue / sets.len(), to),
            Queues::OwnSole(sets) => sets[queue % sets.len()].connect(queue / sets.len(), to),
        }
    }

    #[inline]
    fn post(&self, queue: usize, list: &mut SendList) -> Result<(), PostError> {
        match self {
            Queues::Promised(pairs, _) => pairs[queue].post_send(list),
            Queues::Own(pairs, _) => pairs[queue].post_send(list),
            Queues::Shared(pairs, _) => pairs[queue].post_send(list),
            Queues::PromisedSole(sets) => {
                sets[queue % sets.len()].post_send(queue / sets.len(), list)
            }
            Queues::OwnSole(sets) => sets[queue % sets.len()].post_send(queue / sets.len(), list),
        }
    }

    fn completion_queues(&self) -> usize {
        match self {
            Queues::Promised(_, queues) | Queues::Own(_, queues) | Queues::Shared(_, queues) => {
                queues.len()
            }
            Queues::PromisedSole(sets) => sets.len(),
            Queues::OwnSole(sets) => sets.len(),
        }
    }

    #[inline]
    fn poll<'w>(
        &self,
        from: usize,
        into: &'w mut [Completion],
    ) -> Result<&'w [Completion], weft_verbs::Error> {
        match self {
            Queues::Promised(_, queues) | Queues::Own(_, queues) | Queues::Shared(_, queues) => {
                queues[from].poll(into)
            }
            Queues::PromisedSole(sets) => sets[from].poll(into),
            Queues::OwnSole(sets) => sets[from].poll(into),
        }
    }
}

/// A thread's queue pairs, completion queues and buffers.
pub struct Endpoint {
    thread: usize,
    queues: Queues,
    slots: Vec<Slot>,
    /// Requests that may be under way on a queue pair of its own.
    depth: u64,
    /// By queue pair.
    counts: Vec<Count>,
    /// Of all lines of the process, if others may find this thread's completions.
    tallies: Option<Arc<[Tally]>>,
    found: Box<[Completion]>,
    _unused: Unused,
    _one_thread: PhantomData<Cell<()>>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    posted: u64,
    /// If no one else finds its completions.
    completed: u64,
}

/// What is there because the layout doubles, or to keep others off a thread domain's page.
#[derive(Default)]
pub(crate) struct Unused {
    pub queues: Option<Queues>,
    pub domains: Vec<ThreadDomain>,
}

impl Endpoint {
    pub(crate) fn new(
        thread: usize,
        (depth, queue_pairs, completion_depth): (usize, usize, usize),
        queues: Queues,
        slots: Vec<Slot>,
        tallies: Option<Arc<[Tally]>>,
        unused: Unused,
    ) -> Endpoint {
        Endpoint {
            thread,
            queues,
            slots,
            depth: depth as u64,
            counts: vec![Count::default(); queue_pairs],
            tallies,
            found: vec![Completion::default(); completion_depth].into(),
            _unused: unused,
            _one_thread: PhantomData,
        }
    }

    /// The thread's number.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// How many queue pairs it has or shares.
    pub fn queue_pairs(&self) -> usize {
        self.counts.len()
    }

    /// Its buffers.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Buffer `index`.
    ///
    /// # Panics
    /// If there is none; likewise below, of queue pairs.
    pub fn slot(&self, index: usize) -> &Slot {
        &self.slots[index]
    }

    /// Where peers find queue pair `queue`.
    pub fn address(&self, queue: usize) -> QueuePairAddress {
        QueuePairAddress::of(self.queues.number(queue))
    }

    /// Connects queue pair `queue` to one at `port`. One that is shared is connected once, by one of its threads.
    pub fn connect(&self, queue: usize, port: Port, peer: QueuePairAddress) -> Result<(), Error> {
        let connection = port.connection(self.address(queue), peer);
        Ok(self.queues.connect(queue, &connection)?)
    }

    /// The number for a request on queue pair `queue` whose completion answers for `answers` requests: itself, and those posted before
    /// it on the queue pair that asked for none. All requests are tagged, so that a failure is told to whose it is.
    ///
    /// # Panics
    /// If `answers` is 0.
    pub fn tag(&self, queue: usize, answers: usize) -> u64 {
        assert!(queue < self.counts.len(), "no queue pair {queue}");
        let tag = Tag {
            line: (self.thread * self.counts.len() + queue) as u32,
            answers: u32::try_from(answers).expect("a completion answers for fewer than 2^32"),
        };
        assert!(answers > 0, "a completion answers for its own request");
        tag.pack()
    }

    /// Posts a list by one call if all of it has room, and tells whether it had: if not, [`poll`](Endpoint::poll) and try again.
    #[inline]
    pub fn post(&mut self, queue: usize, list: &mut SendList) -> Result<bool, Error> {
        let requests = list.len();
        if !self.reserve(queue, requests) {
            return Ok(false);
        }
        match self.queues.post(queue, list) {
            Ok(()) => {
                self.counts[queue].posted += requests as u64;
                Ok(true)
            }
            Err(error) => Err(self.refused(queue, requests, error)),
        }
    }

    #[inline]
    fn reserve(&self, queue: usize, requests: usize) -> bool {
        let shared = self.tally(queue).and_then(|tally| tally.reserve(requests));
        shared.unwrap_or_else(|| self.outstanding(queue) + requests as u64 <= self.depth)
    }

    #[cold]
    fn refused(&mut self, queue: usize, requests: usize, error: PostError) -> Error {
        if let Some(tally) = self.tally(queue) {
            tally.give_back(requests - error.posted);
        }
        self.counts[queue].posted += error.posted as u64;
        error.into()
    }

    #[inline]
    fn tally(&self, queue: usize) -> Option<&Tally> {
        let tallies = self.tallies.as_deref()?;
        Some(&tallies[self.thread * self.counts.len() + queue])
    }

    /// Requests on queue pair `queue` that this thread posted and that completed.
    #[inline]
    pub fn completed(&self, queue: usize) -> u64 {
        match self.tally(queue) {
            None => self.counts[queue].completed,
            Some(tally) => tally.completed(),
        }
    }

    /// Requests of this thread under way on queue pair `queue`.
    #[inline]
    pub fn outstanding(&self, queue: usize) -> u64 {
        self.counts[queue].posted - self.completed(queue)
    }

    /// Looks once into each of its completion queues, and counts what it finds for those whose it is. How many completions there
    /// were, or why a request of this thread failed.
    #[inline]
    pub fn poll(&mut self) -> Result<usize, Error> {
        let mut count = 0;
        for from in 0..self.queues.completion_queues() {
            let found = self.queues.poll(from, &mut self.found)?;
            count += found.len();
            match &self.tallies {
                None => take_own(self.thread, &mut self.counts, found)?,
                Some(tallies) => take_any(tallies, found)?,
            }
        }
        if let Some(tallies) = &self.tallies {
            let first = self.thread * self.counts.len();
            for tally in &tallies[first..first + self.counts.len()] {
                tally.check()?;
            }
        }
        Ok(count)
    }

    /// Polls until nothing of this thread's is under way. The last request on each queue pair must have asked for a completion.
    pub fn drain(&mut self) -> Result<(), Error> {
        for queue in 0..self.counts.len() {
            while self.outstanding(queue) > 0 {
                if self.poll()? == 0 {
                    weft_sync::yield_now();
                }
            }
        }
        Ok(())
    }
}

#[inline]
fn take_own(thread: usize, counts: &mut [Count], found: &[Completion]) -> Result<(), Error> {
    let first = thread * counts.len();
    for completion in found {
        let (line, answers, status) = tally::read(completion, first + counts.len())?;
        let foreign = || Error::Untagged {
            id: completion.id(),
        };
        if status != 0 {
            return Err(Error::Failed { status });
        }
        let queue = line.checked_sub(first).ok_or_else(foreign)?;
        counts[queue].completed += u64::from(answers);
    }
    Ok(())
}

#[inline]
fn take_any(tallies: &[Tally], found: &[Completion]) -> Result<(), Error> {
    let mut outcome = Ok(());
    for completion in found {
        match tally::read(completion, tallies.len()) {
            Ok((line, answers, status)) => tallies[line].take(answers, status),
            // The others' are counted all the same.
            Err(error) => outcome = Err(error),
        }
    }
    outcome
}
