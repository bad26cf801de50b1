//! What a collective operation runs on: point-to-point messages, and one operation's use of them.

use crate::arena::{Arena, Doing, LARGEST_ELEMENT};
use crate::select::{Call, Placement, Sharing};
use crate::{Hosts, Reduction, copy};
use std::cell::Cell;
use std::future::poll_fn;
use std::num::NonZeroU8;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use weft_memory::Memory;
use weft_reserve::NoMemory;
use weft_sync::board::Broken;

/// Point-to-point messages in one communicator's collective context.
pub trait PointToPoint {
    type Request: Copy;
    type Error;

    fn rank(&self) -> usize;
    fn size(&self) -> usize;

    /// Whether there are more processes than cores, so that every round of messages costs a turn of the
    /// scheduler. The same on all ranks of the communicator.
    fn oversubscribed(&self) -> bool;

    /// Which rank is on which host, if they are on several: alike on all of them.
    fn hosts(&self) -> Option<&Hosts> {
        None
    }

    /// Starts a send of `memory`. Never blocks.
    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<Self::Request, Self::Error>;

    /// As [`send`](Self::send), of no data: the receive that it meets fails, with an error of this mark.
    fn send_failure(
        &self,
        to: usize,
        tag: u32,
        mark: NonZeroU8,
    ) -> Result<Self::Request, Self::Error>;

    /// What others are told of an error.
    fn mark(error: &Self::Error) -> NonZeroU8;

    /// The error of an operation for which there is no memory.
    fn no_memory() -> Self::Error;

    /// Starts a receive into `memory`. Never blocks. A shorter message is no error, a longer one is.
    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<Self::Request, Self::Error>;

    /// The received or sent bytes once the request has completed, which uses it up; none while it is
    /// pending: then the operation waits for it, and whoever drives the operation learns it here.
    fn poll(&self, request: Self::Request) -> Option<Result<usize, Self::Error>>;

    /// By what length of message the ranks choose how the operation of this tag goes, as this one sees it: alike on all of them, unless
    /// the program is wrong.
    fn chooses(&self, tag: u32, bytes: usize) {
        let _ = (tag, bytes);
    }

    /// What this rank does that no other function is told. Nothing is to be done about it.
    fn does(&self, _: Doing) {}

    /// The rank for which all others waited in the operation before the one of this tag, and which waited for none, if that is known: alike
    /// on all ranks.
    fn leader_before(&self, tag: u32) -> Option<usize> {
        let _ = tag;
        None
    }

    /// The memory that all ranks of this host share, by their positions, if they do and this operation may use it: alike on all of
    /// them.
    fn arena(&self) -> Option<&dyn Arena<Self::Error>> {
        None
    }
}

/// What went wrong with one operation at this rank, whichever of its channels it was on.
pub struct Outcome<E> {
    failure: Cell<Option<E>>,
    /// Of the first failure; stays when the failure is taken.
    mark: Cell<Option<NonZeroU8>>,
}

impl<E> Default for Outcome<E> {
    fn default() -> Outcome<E> {
        Outcome {
            failure: Cell::new(None),
            mark: Cell::new(None),
        }
    }
}

/// One collective operation's use of the messages: its tag, what it waits for and what went wrong. Among all ranks, or some of
/// them, which are then numbered by themselves.
pub struct Channel<'a, P: PointToPoint> {
    peers: &'a P,
    tag: u32,
    outcome: &'a Outcome<P::Error>,
    members: Members<'a>,
    rank: usize,
    size: usize,
    /// Whether all of them are on this host.
    is_local: bool,
}

/// Which of the communicator's ranks a channel is among.
#[derive(Clone, Copy)]
enum Members<'a> {
    All,
    /// Those of this rank's host, by position.
    Host(&'a Hosts),
    /// One of each host, by the host's number.
    Across(&'a Hosts, Speaker),
}

/// The rank by which a host takes part in what goes on between hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// Its leader: the root on its own host, else the first rank.
    Leader {
        root: usize,
    },
    /// The rank so many places after the leader, around the host.
    AfterLeader {
        root: usize,
        places: usize,
    },
    /// Its rank at this position.
    At(usize),
    /// The same, while those at every other position do as much: what goes between hosts is of all of them.
    EachAt(usize),
    Last,
}

impl Speaker {
    fn of(self, hosts: &Hosts, host: usize) -> usize {
        match self {
            Speaker::Leader { root } if hosts.host_of(root) == host => root,
            Speaker::Leader { .. } => hosts.rank_at(host, 0),
            Speaker::AfterLeader { root, places } => {
                let leader = hosts.position(Speaker::Leader { root }.of(hosts, host));
                hosts.rank_at(host, (leader + places) % hosts.ranks_on(host))
            }
            Speaker::At(position) | Speaker::EachAt(position) => hosts.rank_at(host, position),
            Speaker::Last => hosts.rank_at(host, hosts.ranks_on(host) - 1),
        }
    }
}

/// How many requests an operation has under way at once.
pub(crate) const WINDOW: usize = 16;

/// More rounds than a binomial tree of any number of ranks has.
pub(crate) const ROUNDS: usize = 32;

impl<'a, P: PointToPoint> Channel<'a, P> {
    /// Operations that may be under way at the same time have different tags.
    pub fn new(peers: &'a P, tag: u32, outcome: &'a Outcome<P::Error>) -> Channel<'a, P> {
        Channel {
            peers,
            tag,
            outcome,
            members: Members::All,
            rank: peers.rank(),
            size: peers.size(),
            is_local: peers.hosts().is_none(),
        }
    }

    /// The same operation among some of the ranks, of which this one is number `rank`.
    fn among(&self, members: Members<'a>, rank: usize, size: usize) -> Channel<'a, P> {
        Channel {
            members,
            rank,
            size,
            is_local: matches!(members, Members::Host(_)),
            ..*self
        }
    }

    /// Which rank is on which host. Algorithms that need it are chosen only where there are several.
    pub(crate) fn hosts(&self) -> &'a Hosts {
        self.peers.hosts().expect("chosen on several hosts")
    }

    /// The same operation among the ranks of this rank's host.
    pub(crate) fn within_host(&self) -> Channel<'a, P> {
        let (hosts, rank) = (self.hosts(), self.peers.rank());
        let size = hosts.ranks_on(hosts.own());
        self.among(Members::Host(hosts), hosts.position(rank), size)
    }

    /// The same operation among one rank of each host, if this is one of them.
    pub(crate) fn across(&self, speaker: Speaker) -> Option<Channel<'a, P>> {
        let hosts = self.hosts();
        let speaks = speaker.of(hosts, hosts.own()) == self.peers.rank();
        let members = Members::Across(hosts, speaker);
        speaks.then(|| self.among(members, hosts.own(), hosts.count()))
    }

    /// The position of the leader of this rank's host.
    pub(crate) fn leader(&self, root: usize) -> usize {
        let hosts = self.hosts();
        hosts.position(Speaker::Leader { root }.of(hosts, hosts.own()))
    }

    /// The operation's, of all its parts.
    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    /// The messages that the operation runs on.
    pub fn peers(&self) -> &'a P {
        self.peers
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// The communicator's rank of one of this channel's.
    fn peer(&self, rank: usize) -> usize {
        match self.members {
            Members::All => rank,
            Members::Host(hosts) => hosts.rank_at(hosts.own(), rank),
            Members::Across(hosts, speaker) => speaker.of(hosts, rank),
        }
    }

    /// What the selection of an algorithm knows of this operation. `bytes` are the packed ones of its message; where all ranks of a host
    /// speak at once, the choice goes by the sum, which one adapter moves.
    pub(crate) fn call(&self, bytes: usize) -> Call {
        if let Members::All = self.members {
            self.peers.chooses(self.tag, bytes);
        }
        let speakers = match self.members {
            Members::Across(hosts, Speaker::EachAt(_)) => hosts.most_ranks(),
            _ => 1,
        };
        Call {
            bytes: bytes.saturating_mul(speakers),
            ranks: self.size(),
            oversubscribed: self.oversubscribed(),
            sharing: match self.arena() {
                None => Sharing::Nothing,
                Some(arena) if arena.copies() => Sharing::Everything,
                Some(_) => Sharing::Board,
            },
            are_near: self.arena().is_some_and(Arena::is_near),
            placement: match self.members {
                Members::All => self.peers.hosts().and_then(Placement::of),
                _ => None,
            },
        }
    }

    /// As [`call`](Self::call), of a reduction, whose datatype is alike on all ranks (MPI-5.0 §6.9.1).
    pub(crate) fn call_of(&self, reduction: &Reduction<'_>) -> Call {
        let mut call = self.call(reduction.bytes());
        if reduction.element_bytes() > LARGEST_ELEMENT {
            call.sharing = Sharing::Nothing;
        }
        call.placement = call
            .placement
            .filter(|placement| placement.is_contiguous || reduction.commutative());
        call
    }

    /// Ranks on different hosts have no core in common.
    fn oversubscribed(&self) -> bool {
        !matches!(self.members, Members::Across(..)) && self.peers.oversubscribed()
    }

    /// The rank that led the operation before this one, if that was among the same ranks.
    pub(crate) fn leader_before(&self) -> Option<usize> {
        match self.members {
            Members::All => self.peers.leader_before(self.tag),
            Members::Host(_) | Members::Across(..) => None,
        }
    }

    pub(crate) fn arena(&self) -> Option<&dyn Arena<P::Error>> {
        match self.is_local {
            true => self.peers.arena(),
            false => None,
        }
    }

    /// The rank `distance` after this one, around the ring.
    pub(crate) fn after(&self, distance: usize) -> usize {
        (self.rank() + distance) % self.size()
    }

    /// The rank `distance` before this one, around the ring; `distance <= size`.
    pub(crate) fn before(&self, distance: usize) -> usize {
        (self.rank() + self.size() - distance) % self.size()
    }

    /// Starts a send. No request if that failed, which [`finish`](Self::finish) reports. Once something has failed here,
    /// what is sent is that.
    pub(crate) fn send(&self, to: usize, memory: Memory) -> Option<P::Request> {
        self.started(match self.mark() {
            None => self.peers.send(self.peer(to), self.tag, memory),
            Some(mark) => self.peers.send_failure(self.peer(to), self.tag, mark),
        })
    }

    /// Starts a receive. No request if that failed, which [`finish`](Self::finish) reports.
    pub(crate) fn receive(&self, from: usize, memory: Memory) -> Option<P::Request> {
        self.started(self.peers.receive(self.peer(from), self.tag, memory))
    }

    fn started(&self, started: Result<P::Request, P::Error>) -> Option<P::Request> {
        started.map_err(|error| self.fail(error)).ok()
    }

    /// Keeps the error of a part of the operation.
    pub(crate) fn keep(&self, outcome: Result<(), P::Error>) {
        outcome.err().into_iter().for_each(|error| self.fail(error));
    }

    /// What there was memory for. If there was none, the operation has failed here and this rank leaves it: nothing of
    /// it is under way, and whoever waits for this rank asks whether it is still there.
    #[inline]
    pub(crate) fn room<T>(&self, found: Result<T, NoMemory>) -> Option<T> {
        found.map_err(|NoMemory| self.leave()).ok()
    }

    /// Leaves the operation for want of memory, and with it the board: from here on this rank is in other steps than
    /// the others.
    #[cold]
    fn leave(&self) {
        self.fail(P::no_memory());
        if let Some(arena) = self.peers.arena() {
            arena.board().give_up(Broken::NoMemory);
            arena.board().end();
            arena.wake();
        }
    }

    /// What others are told, once something has failed here.
    pub(crate) fn mark(&self) -> Option<NonZeroU8> {
        self.outcome.mark.get()
    }

    #[cold]
    fn fail(&self, error: P::Error) {
        let Outcome { failure, mark } = self.outcome;
        mark.set(mark.get().or_else(|| Some(P::mark(&error))));
        let first = failure.take().unwrap_or(error);
        failure.set(Some(first));
    }

    /// Packs or unpacks.
    pub(crate) fn copy(&self, from: &Memory, to: &Memory) {
        let bytes = to.bytes;
        self.peers.does(Doing::Copy { bytes });
        copy(from, to);
    }

    pub(crate) async fn wait(&self, request: Option<P::Request>) {
        let Some(request) = request else { return };
        poll_fn(|_| match self.peers.poll(request) {
            None => Poll::Pending,
            Some(outcome) => {
                outcome.err().into_iter().for_each(|error| self.fail(error));
                Poll::Ready(())
            }
        })
        .await;
    }

    pub(crate) async fn wait_all(&self, requests: &[Option<P::Request>]) {
        for &request in requests {
            self.wait(request).await;
        }
    }

    /// Sends and receives at once.
    pub(crate) async fn exchange(&self, to: usize, out: Memory, from: usize, into: Memory) {
        let incoming = self.receive(from, into);
        let outgoing = self.send(to, out);
        self.wait(incoming).await;
        self.wait(outgoing).await;
    }

    /// Starts requests `0..count` in order, at most [`WINDOW`] at once, and waits for them all.
    pub(crate) async fn windowed(
        &self,
        count: usize,
        mut start: impl FnMut(usize) -> Option<P::Request>,
    ) {
        for begin in (0..count).step_by(WINDOW) {
            let mut requests = [None; WINDOW];
            let end = count.min(begin + WINDOW);
            for (index, request) in (begin..end).zip(&mut requests) {
                *request = start(index);
            }
            self.wait_all(&requests[..end - begin]).await;
        }
    }

    /// The operation's result, once all its requests have completed.
    pub(crate) fn finish(&self) -> Result<(), P::Error> {
        self.outcome.failure.take().map_or(Ok(()), Err)
    }
}

/// What [`boxed`] has made.
pub type Boxed<'f, T> = Pin<Box<dyn Future<Output = T> + 'f>>;

/// An operation that does not lie on the stack, on which it is made and then is not, as a thread's stack may be small: one that
/// is made of several others, or is called from deep within.
#[inline(never)]
pub fn boxed<'f, F: Future + 'f>(make: impl FnOnce() -> F) -> Boxed<'f, F::Output> {
    Box::pin(make())
}

/// Drives an operation to its end. `wait` returns when what it waits for may have come.
/// In line, so that the future, which may be large, is not moved before it is polled.
#[inline(always)]
pub fn run_blocking<F: Future>(future: F, mut wait: impl FnMut()) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        wait();
    }
}
