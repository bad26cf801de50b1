//! Blocking operations whose blocks have lengths that only some processes know, of data without gaps, gone through in the call: the messages of
//! `weft_collective`'s linear algorithms, without a future.
//!
//! As in `short`, a function that returns `None` has sent and received nothing, and the caller then goes the long way. An operation that begins here also ends here, even after an
//! error: the error does not stop the other messages, and what is sent after it says that this process failed (`weft_collective`, rule 2).

use weft_collective::{PointToPoint, copy};
use weft_error::{Error, Result};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_messages::request::Request;
use weft_objects::comm::{Comm, find};
use weft_objects::types::Buffer;

use super::arena;
use super::blocks::{PlainVectors, Vectors};
use super::peers::Peers;
use super::root::rank_of;

/// The most processes among which everyone's messages are under way at once.
const MOST_RANKS: usize = 16;

/// An operation's messages at this process.
struct Messages<'a> {
    peers: &'a Peers<'a>,
    tag: u32,
    failure: Option<Error>,
}

impl Messages<'_> {
    fn keep<T>(&mut self, outcome: Result<T>) -> Option<T> {
        outcome
            .map_err(|error| self.failure.get_or_insert(error))
            .ok()
    }

    /// An empty block travels in no message.
    #[inline]
    fn send(&mut self, to: usize, block: Memory) -> Option<Request> {
        if block.bytes == 0 {
            return None;
        }
        let started = match &self.failure {
            None => self.peers.send(to, self.tag, block),
            Some(error) => self.peers.send_failure(to, self.tag, Peers::mark(error)),
        };
        self.keep(started)
    }

    #[inline]
    fn receive(&mut self, from: usize, block: Memory) -> Option<Request> {
        if block.bytes == 0 {
            return None;
        }
        let started = self.peers.receive(from, self.tag, block);
        self.keep(started)
    }

    #[inline]
    fn wait(&mut self, request: Option<Request>) {
        let Some(request) = request else { return };
        loop {
            if let Some(outcome) = self.peers.poll(request) {
                self.keep(outcome);
                return;
            }
            self.peers.wait();
        }
    }

    fn wait_all(&mut self, requests: &[Option<Request>]) {
        requests.iter().for_each(|&request| self.wait(request));
    }
}

/// A communicator of few processes, of one group, and the one for which all others wait in the operation, if it waits for none.
struct Few {
    comm: &'static Comm,
    leader: Option<usize>,
}

impl Few {
    #[inline]
    fn find(id: CommId) -> Option<Few> {
        let comm = find(id).ok()?;
        let is_one_group = comm.local_and_remote().is_none();
        let leader = None;
        (is_one_group && comm.size() as usize <= MOST_RANKS).then_some(Few { comm, leader })
    }

    fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    fn ranks(&self) -> usize {
        self.comm.size() as usize
    }

    /// The rank so many places after this one, around the ring, and the one as many before.
    fn around(&self, distance: usize) -> [usize; 2] {
        let (rank, ranks) = (self.rank(), self.ranks());
        [(rank + distance) % ranks, (rank + ranks - distance) % ranks]
    }

    #[inline]
    fn run(&self, go: impl FnOnce(&mut Messages<'_>)) -> Result<()> {
        let comm = self.comm;
        let tag = comm.next_operation();
        if let Some(leader) = self.leader {
            comm.operations().lead(tag, leader);
        }
        let peers = Peers::of_call(comm, tag, arena::access(comm, tag));
        let mut messages = Messages {
            peers: &peers,
            tag,
            failure: None,
        };
        go(&mut messages);
        let failure = messages.failure;
        comm.operations().end();
        failure.map_or(Ok(()), Err)
    }

    /// Starts a message with each of the others, copies what is this process's own, and waits for them all.
    fn run_with_each(
        &self,
        start: impl Fn(&mut Messages<'_>, usize) -> Option<Request>,
        copy_own: impl FnOnce(),
    ) -> Result<()> {
        let others = self.ranks() - 1;
        self.run(|messages| {
            let mut requests = [None; MOST_RANKS];
            for (distance, request) in (1..=others).zip(&mut requests) {
                let [rank, _] = self.around(distance);
                *request = start(messages, rank);
            }
            copy_own();
            messages.wait_all(&requests[..others]);
        })
    }
}

/// This process's own block, unless it is in place: as long as its place, and elsewhere.
fn own(buffer: Option<&Buffer>, place: &Memory) -> Option<Option<Memory>> {
    let Some(buffer) = buffer else {
        return Some(None);
    };
    let span = buffer.plain()?;
    let fits = span.bytes == place.bytes && (span.base != place.base || span.bytes == 0);
    fits.then(|| Some(Memory::contiguous(span.base, span.bytes)))
}

/// The one block of a process that is not the root.
fn leaf(buffer: Option<&Buffer>) -> Option<Memory> {
    let span = buffer?.plain()?;
    Some(Memory::contiguous(span.base, span.bytes))
}

/// `MPI_Gatherv`: `receive` is the root's.
pub(super) fn gatherv(
    send: Option<&Buffer>,
    receive: Option<&Vectors<'_>>,
    root: i32,
    comm: CommId,
) -> Option<Result<()>> {
    let few = Few::find(comm)?;
    let root = rank_of(few.comm, root)?;
    if root != few.rank() {
        let send = leaf(send)?;
        return Some(few.run(|messages| {
            let request = messages.send(root, send);
            messages.wait(request);
        }));
    }
    let receive = receive?;
    let blocks = PlainVectors::new(receive, few.ranks())?;
    let place = blocks.block(root);
    let own = own(send, &place)?;
    if send.is_some_and(|send| send.address == receive.address) {
        return None;
    }
    Some(few.run_with_each(
        |messages, from| messages.receive(from, blocks.block(from)),
        || own.iter().for_each(|own| copy(own, &place)),
    ))
}

/// `MPI_Scatterv`: `send` is the root's.
pub(super) fn scatterv(
    send: Option<&Vectors<'_>>,
    receive: Option<&Buffer>,
    root: i32,
    comm: CommId,
) -> Option<Result<()>> {
    let mut few = Few::find(comm)?;
    let root = rank_of(few.comm, root)?;
    few.leader = Some(root);
    if root != few.rank() {
        let receive = leaf(receive)?;
        return Some(few.run(|messages| {
            let request = messages.receive(root, receive);
            messages.wait(request);
        }));
    }
    let send = send?;
    let blocks = PlainVectors::new(send, few.ranks())?;
    let block = blocks.block(root);
    let own = own(receive, &block)?;
    if receive.is_some_and(|receive| receive.address == send.address) {
        return None;
    }
    Some(few.run_with_each(
        |messages, to| messages.send(to, blocks.block(to)),
        || own.iter().for_each(|own| copy(&block, own)),
    ))
}

/// `MPI_Alltoallv`, not in place.
pub(super) fn alltoallv(
    send: Option<&Vectors<'_>>,
    receive: &Vectors<'_>,
    comm: CommId,
) -> Option<Result<()>> {
    let few = Few::find(comm)?;
    let (rank, ranks) = (few.rank(), few.ranks());
    let send = send?;
    let from = PlainVectors::new(send, ranks)?;
    let into = PlainVectors::new(receive, ranks)?;
    let (own, place) = (from.block(rank), into.block(rank));
    if own.bytes != place.bytes
        || send.address == receive.address
        || (own.base == place.base && own.bytes > 0)
    {
        return None;
    }
    Some(few.run(|messages| {
        let mut requests = [[None; MOST_RANKS]; 2];
        for (distance, request) in (1..ranks).zip(&mut requests[0]) {
            let [_, before] = few.around(distance);
            *request = messages.receive(before, into.block(before));
        }
        for (distance, request) in (1..ranks).zip(&mut requests[1]) {
            let [after, _] = few.around(distance);
            *request = messages.send(after, from.block(after));
        }
        copy(&own, &place);
        for requests in &requests {
            messages.wait_all(&requests[..ranks - 1]);
        }
    }))
}
