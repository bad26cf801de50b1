//! A single-threaded completion queue with all queue pairs that report to it.

use std::rc::Rc;

use crate::{
    Completion, Connection, Context, Domain, Error, PostError, QueuePair, QueuePairAttributes,
    SendList, SoleCompletionQueue,
};

/// Queue pairs and the completion queue without a lock that they share. One thread drives all of it, and it goes to another as a
/// whole.
///
/// # Protocol
/// Every pointer to the queue is in here: none is handed out, nor is a queue pair, which has one. So whoever has the value has all
/// users of the queue, and [`Send`] moves them together.
pub struct SoleQueues<D: Domain> {
    pairs: Vec<QueuePair<D, Rc<SoleCompletionQueue>>>,
    queue: Rc<SoleCompletionQueue>,
}

// SAFETY: the protocol above; the domains go with their queue pairs.
unsafe impl<D: Domain + Send> Send for SoleQueues<D> {}

impl<D: Domain> SoleQueues<D> {
    /// Without queue pairs yet; with room for at least `entries` completions.
    pub fn new(context: &Context, entries: u32) -> Result<SoleQueues<D>, Error> {
        Ok(SoleQueues {
            pairs: Vec::new(),
            queue: Rc::new(SoleCompletionQueue::new(context, entries)?),
        })
    }

    /// Adds a queue pair, whose index is the number of those before it.
    pub fn add(&mut self, domain: D, attributes: &QueuePairAttributes) -> Result<(), Error> {
        let (sends, receives) = (self.queue.clone(), self.queue.clone());
        let pair = QueuePair::new(domain, sends, receives, None, attributes)?;
        self.pairs.push(pair);
        Ok(())
    }

    /// How many queue pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The number of queue pair `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn number(&self, index: usize) -> u32 {
        self.pairs[index].number()
    }

    /// As [`QueuePair::connect`].
    ///
    /// # Panics
    /// If there is no queue pair `index`.
    pub fn connect(&self, index: usize, connection: &Connection) -> Result<(), Error> {
        self.pairs[index].connect(connection)
    }

    /// As [`QueuePair::post_send`].
    ///
    /// # Panics
    /// If there is no queue pair `index`.
    #[inline]
    pub fn post_send(&self, index: usize, list: &mut SendList) -> Result<(), PostError> {
        self.pairs[index].post_send(list)
    }

    /// Takes completions of all its queue pairs, as many as there are and have room.
    #[inline]
    pub fn poll<'w>(&self, into: &'w mut [Completion]) -> Result<&'w [Completion], Error> {
        self.queue.poll(into)
    }
}
