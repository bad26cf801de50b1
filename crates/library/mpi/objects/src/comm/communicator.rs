//! Communicators: a group and the contexts in which its messages travel (MPI-5.0 chapter 7).

use parking_lot::{Mutex, MutexGuard};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use weft_collective::Hosts;
use weft_engine::LANES;
use weft_error::{Class, Error, Object, Result, argument};
use weft_handle::{CommId, FileId, WindowId};
use weft_process::job::job;
use weft_transport::Peer;

use super::arena;
use super::begun::Begun;
use super::hints::{Hints, Wildcards};
use super::lanes::{self, LaneSelection};
use super::members::members;
use super::numbers::{UNAGREED, contexts};
use super::operations::Operations;
use super::references::References;
use super::traffic::{Traffic, context_of};
use crate::attributes::{Attributes, Holder};
use crate::group::{Comparison, Group};
use crate::handler::{Handler, HandlerCell};
use crate::topology::Topology;

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    /// Its number, the same on all its processes, which no other of theirs has: [`UNAGREED`] until they agree; then it
    /// stays. With it, how its messages select their lanes ([`lanes`]).
    number: AtomicU32,
    rank: u32,
    /// Whom a rank of its messages names: its own group, or the remote one of an inter-communicator.
    peers: Group,
    /// Of the group that this process is in.
    size: u32,
    /// An inter-communicator's own group: an intra-communicator that has no handle, for what the group does by itself.
    local: Option<Arc<Comm>>,
    topology: Option<Arc<Topology>>,
    handler: HandlerCell,
    hints: Mutex<Hints>,
    wildcards: Wildcards,
    name: Mutex<CString>,
    /// Its blocking collective operations.
    operations: Operations,
    /// The nonblocking and persistent ones.
    begun: Begun,
    references: References,
    /// Which of its processes is on which host, once a collective operation has asked for it.
    hosts: OnceLock<Option<Box<Hosts>>>,
    /// For its blocking collective operations.
    pub arena: arena::ArenaCell,
    pub attributes: Attributes,
}

impl Comm {
    /// The communicator of an agreed number, in which this process has `rank`.
    pub fn new(number: u32, rank: u32, group: Group, name: &CStr) -> Comm {
        Comm {
            number: AtomicU32::new(number),
            rank,
            size: group.size(),
            peers: group,
            local: None,
            topology: None,
            handler: HandlerCell::new(Handler::Fatal),
            hints: Mutex::default(),
            wildcards: Wildcards::default(),
            name: Mutex::new(name.to_owned()),
            operations: Operations::default(),
            begun: Begun::default(),
            references: References::default(),
            hosts: OnceLock::new(),
            arena: arena::ArenaCell::default(),
            attributes: Attributes::new(Holder::Comm),
        }
    }

    /// The inter-communicator of an agreed number between `local` and the processes of `remote`.
    pub fn inter(number: u32, local: Arc<Comm>, remote: Group) -> Comm {
        let mut comm = Comm::new(number, local.rank, remote, c"");
        comm.size = local.size;
        comm.local = Some(local);
        comm
    }

    /// Relaxed: it is written before anyone may send or receive here.
    #[inline]
    fn word(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Its number, which no other communicator of its processes ever has.
    #[inline]
    pub fn number(&self) -> u32 {
        lanes::number(self.word())
    }

    /// As its processes have agreed, before anything is sent.
    pub fn set_lane_selection(&self, selection: LaneSelection) {
        let word = selection.mark(self.number());
        self.number.store(word, Ordering::Relaxed);
    }

    pub(crate) fn lane_selection(&self) -> LaneSelection {
        LaneSelection::of_word(self.word())
    }

    /// Its processes have agreed on its numbers. `id` is its handle.
    pub fn agreed(&self, number: u32, local: Option<u32>, selection: LaneSelection, id: CommId) {
        self.number.store(selection.mark(number), Ordering::Relaxed);
        if let (Some(comm), Some(number)) = (&self.local, local) {
            comm.number.store(number, Ordering::Relaxed);
        }
        self.bind(id);
    }

    /// Errors of its requests find its handle.
    pub(crate) fn bind(&self, id: CommId) {
        let contexts = contexts();
        self.numbers().for_each(|number| contexts.bind(number, id));
        members().bind(self.number(), self.peers.clone(), self.rank);
        self.numbers().for_each(|number| members().name(number, id));
        // Others may have been quicker to make it, and to revoke it.
        if members().is_number_revoked(self.number()) {
            self.mark_revoked();
        }
    }

    /// Errors of its requests are those of a window, whose own it is.
    pub fn bind_window(&self, id: WindowId) {
        contexts().bind_window(self.number(), id);
    }

    /// Errors of its requests are those of a file, whose own it is.
    pub fn bind_file(&self, id: FileId) {
        contexts().bind_file(self.number(), id);
    }

    #[inline]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// How many ranks its messages may name: its size, or that of an inter-communicator's remote group.
    pub fn peer_count(&self) -> u32 {
        self.peers.size()
    }

    /// The group that this process is in.
    #[inline]
    pub fn group(&self) -> &Group {
        match &self.local {
            None => &self.peers,
            Some(local) => &local.peers,
        }
    }

    /// Both sides of an inter-communicator: an intra-communicator of this process's group, in which ranks are the
    /// same, and the remote group. None for an intra-communicator.
    pub fn local_and_remote(&self) -> Option<(&Arc<Comm>, &Group)> {
        self.local.as_ref().map(|local| (local, &self.peers))
    }

    /// The remote group of an inter-communicator (MPI-5.0 §7.6.1).
    pub fn remote_group(&self) -> Result<&Group> {
        self.local_and_remote()
            .map(|(_, remote)| remote)
            .ok_or_else(|| {
                let what = "an intra-communicator, which has no remote group";
                argument(Class::Comm, "comm", what)
            })
    }

    /// An error unless it is an intra-communicator; `name` is the argument's.
    pub fn check_intra(&self, name: &str) -> Result<()> {
        match self.local_and_remote() {
            None => Ok(()),
            Some(_) => Err(argument(Class::Comm, name, "an inter-communicator")),
        }
    }

    /// All that this communicator holds of [`Contexts`](super::numbers::Contexts).
    fn numbers(&self) -> impl Iterator<Item = u32> {
        let local = self.local.as_ref().map(|local| local.number());
        let numbers = [Some(self.number()), local].into_iter().flatten();
        numbers.filter(|&number| number != UNAGREED)
    }

    pub(super) fn references(&self) -> &References {
        &self.references
    }

    /// The program has freed it: its numbers are free for others once no operation uses them.
    pub fn release_unless_held(&self) {
        if self.references.free() {
            self.release_numbers();
        }
    }

    /// Its numbers are free for others.
    pub fn release_numbers(&self) {
        members().release(self.number());
        self.numbers().for_each(|number| members().unname(number));
        let contexts = contexts();
        self.numbers().for_each(|number| contexts.release(number));
    }

    /// What an error of its requests is about.
    pub fn object(&self) -> Object {
        Object::CommNumbered(self.number())
    }

    #[inline]
    pub fn context(&self, traffic: Traffic) -> u32 {
        context_of(self.word(), traffic)
    }

    /// The lane of its traffic.
    #[inline]
    pub fn lane(&self) -> u32 {
        self.word() % LANES
    }

    /// The lane and the context of a message between two ranks, the sender's and the receiver's. What stands for a wildcard may
    /// be any.
    #[inline(always)]
    pub fn lane_and_context(
        &self,
        traffic: Traffic,
        ranks: [u32; 2],
        tag: u32,
    ) -> Result<(u32, u32)> {
        let word = self.word();
        let lane = match traffic == Traffic::PointToPoint && lanes::is_any(word) {
            true => self.marked_lane(word, ranks, tag)?,
            false => word % LANES,
        };
        Ok((lane, context_of(word, traffic)))
    }

    /// The lane of a message of a communicator that has marks.
    #[cold]
    #[inline(never)]
    fn marked_lane(&self, word: u32, ranks: [u32; 2], tag: u32) -> Result<u32> {
        match lanes::is_revoked(word) {
            true => Err(revoked().on(self.object())),
            false => Ok(lanes::lane(word, ranks, tag)),
        }
    }

    /// Whether one of its processes has revoked it, as far as this one knows.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        lanes::is_revoked(self.word())
    }

    /// An error if it is revoked.
    pub fn check_revoked(&self) -> Result<()> {
        match self.is_revoked() {
            true => Err(revoked().on(self.object())),
            false => Ok(()),
        }
    }

    /// It is revoked from here on, for this process: what is pending on it is to be ended, and nothing begins. False if it was.
    pub fn mark_revoked(&self) -> bool {
        let sides = [Some(self), self.local.as_deref()];
        let is_new = !self.is_revoked();
        for comm in sides.into_iter().flatten() {
            comm.number.fetch_or(lanes::REVOKED, Ordering::Relaxed);
            members().revoke(comm.number());
            if let Some(Some(shared)) = comm.arena.get() {
                shared.give_up_revoked();
            }
        }
        is_new
    }

    /// Whether a context is one of this communicator's, or of what its own group does by itself.
    pub fn has_context(&self, context: u32) -> bool {
        self.numbers()
            .any(|number| number == super::traffic::number_of(context))
    }

    #[inline]
    pub fn peer(&self, rank: u32) -> Peer {
        self.peers.peer(rank)
    }

    /// Whether all processes of its group are on one host: what all of them find alike, and what memory that they share needs.
    pub fn is_on_one_host(&self) -> bool {
        let hosts = &job().hosts;
        let host = |rank| hosts.of(self.peer(rank));
        hosts.count() == 1 || (1..self.size()).all(|rank| host(rank) == host(0))
    }

    /// Which of an intra-communicator's processes is on which host, if they are on several.
    #[inline]
    pub fn hosts(&self) -> Option<&Hosts> {
        self.hosts.get_or_init(|| self.map_hosts()).as_deref()
    }

    #[cold]
    fn map_hosts(&self) -> Option<Box<Hosts>> {
        let hosts = &job().hosts;
        if hosts.count() == 1 || self.local.is_some() {
            return None;
        }
        let names = (0..self.size()).map(|rank| hosts.of(self.peer(rank)));
        Hosts::new(self.rank as usize, names).map(Box::new)
    }

    pub fn topology(&self) -> Option<&Topology> {
        self.topology.as_deref()
    }

    pub fn shared_topology(&self) -> Option<Arc<Topology>> {
        self.topology.clone()
    }

    pub fn set_topology(&mut self, topology: Arc<Topology>) {
        self.topology = Some(topology);
    }

    pub fn handler(&self) -> Handler {
        self.handler.load()
    }

    pub fn set_handler(&self, handler: Handler) {
        self.handler.store(handler);
    }

    /// Before it has others, or in a call that sets them.
    pub fn set_hints(&self, hints: Hints) {
        self.wildcards().exclude(hints.promised());
        *self.hints() = hints;
    }

    pub fn hints(&self) -> MutexGuard<'_, Hints> {
        self.hints.lock()
    }

    pub fn wildcards(&self) -> &Wildcards {
        &self.wildcards
    }

    pub fn name(&self) -> CString {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &CStr) {
        name.clone_into(&mut self.name.lock());
    }

    /// A tag for the next blocking collective operation, the same on all processes as they call them in one order.
    pub fn next_operation(&self) -> u32 {
        self.operations.begin()
    }

    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    pub fn begun(&self) -> &Begun {
        &self.begun
    }

    /// `MPI_Comm_compare`.
    pub fn compare(&self, other: &Comm) -> Comparison {
        if self.number() == other.number() {
            return Comparison::Identical;
        }
        let own = self.group().compare(other.group());
        let groups = match (self.local_and_remote(), other.local_and_remote()) {
            (None, None) => own,
            (Some((_, remote)), Some((_, other))) => own.max(remote.compare(other)),
            _ => Comparison::Unequal,
        };
        groups.max(Comparison::Congruent)
    }

    /// A rank that messages of this communicator may name, as an argument. A negative one is, without its sign, beyond any size.
    #[inline]
    pub fn check_rank(&self, class: Class, name: &str, rank: i32) -> Result<u32> {
        match (rank as u32) < self.peers.size() {
            true => Ok(rank as u32),
            false => Err(self.not_a_rank(class, name, rank)),
        }
    }

    /// The process of a rank that messages of this communicator may name, as an argument.
    #[inline]
    pub fn check_peer(&self, name: &str, rank: i32) -> Result<Peer> {
        let peer = self.peers.member(rank as u32);
        peer.ok_or_else(|| self.not_a_rank(Class::Rank, name, rank))
    }

    #[cold]
    fn not_a_rank(&self, class: Class, name: &str, rank: i32) -> Error {
        let of = match self.local {
            None => "a communicator",
            Some(_) => "a remote group",
        };
        let size = self.peers.size();
        argument(
            class,
            name,
            format_args!("{rank} is not a rank of {of} of {size}"),
        )
    }
}

/// The error of what is asked of a communicator that is revoked.
#[cold]
fn revoked() -> Error {
    Error::new(Class::Revoked, "the communicator is revoked")
}
