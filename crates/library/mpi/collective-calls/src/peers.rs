//! The processes that a collective operation runs among, and its messages.

use std::cell::Cell;
use std::num::NonZeroU8;

use weft_collective::{Arena, Channel, Hosts, Outcome, PointToPoint, run_blocking};
use weft_engine::RequestId;
use weft_error::told::{Check, Reader, Teller};
use weft_error::{Class, Error, Result};
use weft_memory::Memory;
use weft_messages::completion;
use weft_messages::operation::Awaited;
use weft_messages::request::Request;
use weft_messages::start::{start_failure, start_receive, start_send};
use weft_objects::comm::arena::apart;
use weft_objects::comm::begun::Tagged;
use weft_objects::comm::{Comm, Traffic};
use weft_process::engine::engine;
use weft_process::job::{self, oversubscribed};

use super::arena_access::ArenaAccess;
use super::enquiries;

/// The processes of a collective operation: a communicator's, or some of them. Of an inter-communicator, the remote
/// ones; this process's rank is that in its own group.
pub struct Peers<'a> {
    comm: &'a Comm,
    traffic: Traffic,
    /// Their ranks in the communicator; none for all.
    members: Option<&'a [u32]>,
    rank: usize,
    size: usize,
    waiting: Waiting<'a>,
    hosts: Option<&'a Hosts>,
    arena: Option<ArenaAccess<'a>>,
    /// The operation's, of a blocking one.
    tag: u32,
}

/// Stands for the tag of an operation whose length nobody asks for.
const NO_TAG: u32 = u32::MAX;

/// The one that learns what an operation waits for.
enum Waiting<'a> {
    /// The call that drives it.
    Call(Cell<Option<RequestId>>),
    /// Any thread that makes progress.
    Operation(&'a Awaited),
    /// Any thread that makes progress. It also asks the processes that the operation waits for.
    Tagged {
        awaited: &'a Awaited,
        tagged: &'a Tagged,
        /// The length that this process has passed plus one, or 0 until it is looked at.
        length: Cell<u64>,
    },
}

impl<'a> Peers<'a> {
    pub fn all(comm: &'a Comm) -> Peers<'a> {
        Peers {
            comm,
            traffic: Traffic::Collective,
            members: None,
            rank: comm.rank() as usize,
            size: comm.peer_count() as usize,
            waiting: Waiting::Call(Cell::new(None)),
            hosts: comm.hosts(),
            arena: None,
            tag: NO_TAG,
        }
    }

    /// A communicator's processes, in a blocking operation that may go through its arena.
    #[inline]
    pub(super) fn of_call(comm: &'a Comm, tag: u32, arena: Option<ArenaAccess<'a>>) -> Peers<'a> {
        Peers {
            arena,
            tag,
            ..Peers::all(comm)
        }
    }

    /// Some of a communicator's processes, this one at `rank` among them.
    pub fn some(comm: &'a Comm, members: &'a [u32], rank: usize) -> Peers<'a> {
        Peers {
            traffic: Traffic::Internal,
            ..Peers::on_host(comm, members, rank)
        }
    }

    /// One process of a communicator, in messages that nothing else has the traffic of.
    pub fn one(comm: &'a Comm, traffic: Traffic, member: &'a u32) -> Peers<'a> {
        Peers {
            traffic,
            ..Peers::on_host(comm, std::slice::from_ref(member), 0)
        }
    }

    /// Those of a communicator's processes that are on this host, this one at `position`, in an operation that all of the
    /// communicator know of.
    pub(super) fn on_host(comm: &'a Comm, members: &'a [u32], position: usize) -> Peers<'a> {
        Peers {
            comm,
            traffic: Traffic::Collective,
            members: Some(members),
            rank: position,
            size: members.len(),
            waiting: Waiting::Call(Cell::new(None)),
            hosts: None,
            arena: None,
            tag: NO_TAG,
        }
    }

    /// A communicator's processes, in a collective operation that goes on beside other calls.
    pub(super) fn of_tagged(comm: &'a Comm, awaited: &'a Awaited, tagged: &'a Tagged) -> Peers<'a> {
        Peers {
            waiting: Waiting::Tagged {
                awaited,
                tagged,
                length: Cell::new(0),
            },
            ..Peers::all(comm)
        }
    }

    /// The same, where nobody is asked.
    pub fn of_operation(comm: &'a Comm, awaited: &'a Awaited) -> Peers<'a> {
        Peers {
            waiting: Waiting::Operation(awaited),
            ..Peers::all(comm)
        }
    }

    fn peer(&self, rank: usize) -> u32 {
        self.members.map_or(rank as u32, |members| members[rank])
    }

    /// Who tells what all have told together: the other one, of two.
    pub(super) fn teller(&self) -> Teller {
        match self.size {
            2 => Teller::Rank(1 - self.rank),
            _ => Teller::Anybody,
        }
    }

    /// Ends the connections to all the others, where this process was told nonsense and they may not have been: they
    /// go on, and would wait for it. Any other error all have.
    #[cold]
    pub fn disconnect(&self, error: &Error) {
        if !error.is_nonsense {
            return;
        }
        let others = (0..self.size).map(|rank| self.comm.peer(self.peer(rank)));
        for other in others.filter(|&other| other != job::rank()) {
            engine().end_peer(
                self.comm.lane(),
                other,
                &format!("is in a call in which {error}"),
            );
        }
    }

    /// What all have told together, if it is right.
    pub fn checked<const N: usize>(&self, told: [i64; N], check: Check) -> Result<[i64; N]> {
        let checked = check(Reader::new(self.teller(), &told));
        checked.inspect_err(|error| self.disconnect(error))?;
        Ok(told)
    }

    /// Whether a request is pending. If so, the one that waits learns of it.
    fn is_pending(&self, id: RequestId) -> bool {
        let engine = engine();
        match &self.waiting {
            Waiting::Operation(awaited) => engine.await_request(awaited, id),
            Waiting::Tagged {
                awaited, length, ..
            } => engine.await_enquiring(awaited, id, [0, length.get()]),
            Waiting::Call(pending) => {
                let is_pending = !engine.is_complete(id);
                pending.set(is_pending.then_some(id).or(pending.get()));
                is_pending
            }
        }
    }

    /// Whether the operation is the library's own, for which all processes ask for the same.
    fn is_of_library(&self) -> bool {
        self.tag == NO_TAG && !matches!(self.waiting, Waiting::Tagged { .. })
    }

    #[cold]
    fn told_too_much(&self) -> Error {
        let error = self.teller().lied("told more words than it was asked for");
        self.disconnect(&error);
        error
    }

    /// A message does not come, as the processes' lengths differ.
    #[cold]
    fn part(&self) -> Error {
        if let Some(access) = &self.arena {
            access.part();
        }
        apart().on(self.comm.object())
    }

    /// Waits for what was found pending last, if anything was.
    pub fn wait(&self) {
        if let Waiting::Call(pending) = &self.waiting
            && let Some(id) = pending.take()
        {
            let operations = self.comm.operations();
            engine().wait_enquiring(id, || enquiries::words(operations, self.tag, None));
        }
        if let Some(access) = &self.arena {
            access.wait();
        }
    }
}

impl PointToPoint for Peers<'_> {
    type Request = Request;
    type Error = Error;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn oversubscribed(&self) -> bool {
        oversubscribed()
    }

    fn hosts(&self) -> Option<&Hosts> {
        self.hosts
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<Request> {
        start_send(self.comm, self.traffic, memory, self.peer(to), tag)
    }

    fn send_failure(&self, to: usize, tag: u32, mark: NonZeroU8) -> Result<Request> {
        start_failure(self.comm, self.traffic, self.peer(to), tag, mark.get())
    }

    fn no_memory() -> Error {
        weft_reserve::NoMemory.into()
    }

    fn mark(error: &Error) -> NonZeroU8 {
        NonZeroU8::new(error.class.mark()).expect("an error is no success")
    }

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<Request> {
        start_receive(
            self.comm,
            self.traffic,
            memory,
            self.peer(from) as i32,
            tag as i32,
        )
    }

    fn poll(&self, mut request: Request) -> Option<Result<usize>> {
        if let Some(id) = request.as_engine()
            && self.is_pending(id)
        {
            return None;
        }
        let finished = completion::wait(&mut request);
        Some(finished.and_then(|status| match status.check() {
            Ok(()) => Ok(status.bytes as usize),
            Err(_) if status.is_apart() => Err(self.part()),
            Err(error) if error.class == Class::Truncate && self.is_of_library() => {
                Err(self.told_too_much())
            }
            Err(error) => Err(error),
        }))
    }

    #[inline]
    fn chooses(&self, tag: u32, bytes: usize) {
        if tag == self.tag {
            self.comm.operations().choose(tag, bytes as u64);
        } else if let Waiting::Tagged { tagged, length, .. } = &self.waiting
            && tag == tagged.tag()
            && length.get() == 0
        {
            length.set((bytes as u64).saturating_add(1));
            tagged.choose(bytes as u64);
        }
    }

    fn leader_before(&self, tag: u32) -> Option<usize> {
        match tag == self.tag {
            true => self.comm.operations().leader_before(tag),
            false => None,
        }
    }

    fn arena(&self) -> Option<&dyn Arena<Error>> {
        self.arena
            .as_ref()
            .map(|access| access as &dyn Arena<Error>)
    }
}

/// Waits until all of a communicator's processes have come.
pub fn synchronize(comm: &Comm) -> Result<()> {
    let (peers, outcome) = (Peers::all(comm), Outcome::default());
    let channel = Channel::new(&peers, comm.next_operation(), &outcome);
    run_blocking(weft_collective::barrier(&channel), || peers.wait())
}
