//! Communicators: a group and the contexts in which its messages travel (MPI-5.0 chapter 7).

mod held;

use parking_lot::{Mutex, MutexGuard};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_engine::LANES;
use weft_transport::Peer;

use crate::attributes::{Attributes, Holder};
use crate::buffered::Key;
use crate::collective::ArenaPlace;
use crate::context::UNAGREED;
use crate::error::handler::{HandlerCell, argument};
use crate::error::{Class, Handler, Result};
use crate::group::{Comparison, Group};
use crate::hints::{Hints, Wildcards};
use crate::lifetime::{self, Phase};
use crate::process::{Process, process};
use crate::spread::{self, Spread};
use crate::topology::Topology;

pub(crate) use held::Held;
use held::Holders;

/// Tags of blocking collective operations are below this.
const NONBLOCKING_TAGS: u32 = 1 << 29;
/// Those of nonblocking ones are below this, those of persistent ones from here on to twice as much.
const PERSISTENT_TAGS: u32 = 2 * NONBLOCKING_TAGS;
const _: () = assert!(2 * PERSISTENT_TAGS - 1 == crate::TAG_UB as u32);

/// Names a communicator. Two are predefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommId(pub(crate) u64);

impl CommId {
    /// The one of a handle, which need not be one.
    ///
    /// # Safety
    /// While a call works on it, no other thread frees the object that the handle names: where that is checked, the object
    /// is used without being kept alive. MPI has programs see to it (MPI-5.0 §2.5.1, §11.6.1).
    #[inline]
    pub const unsafe fn named(handle: u64) -> CommId {
        CommId(handle)
    }

    /// Its handle.
    #[inline]
    pub const fn handle(self) -> u64 {
        self.0
    }
}

impl CommId {
    pub const WORLD: CommId = CommId(0);
    pub const SELF: CommId = CommId(1);
}

/// What a message of a communicator is for: part of its context, so that they do not mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Traffic {
    PointToPoint = 0,
    Collective = 1,
    /// Agreement among a part of the group (`MPI_Comm_create_group`).
    Internal = 2,
    /// What a partitioned send tells its receive once, under the program's tag.
    PartitionedSetup = 3,
    /// Partitions, under tags of the sender's choice.
    Partitioned = 4,
}

/// Bits of a context that say what traffic it is.
const TRAFFIC_BITS: u32 = 3;

/// The number of the communicator that a context belongs to.
pub(crate) fn number_of(context: u32) -> u32 {
    context >> TRAFFIC_BITS
}

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    /// Its number, the same on all its processes, which no other of theirs has: [`UNAGREED`] until they agree; then it
    /// stays. With it, by what its messages spread ([`spread`]).
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
    /// Collective operations begun, for their tags.
    operations: AtomicU32,
    /// Nonblocking ones, for theirs.
    nonblocking: AtomicU32,
    /// Persistent collective operations prepared, for theirs.
    persistent: AtomicU32,
    holders: Holders,
    /// For its blocking collective operations.
    pub(crate) arena: ArenaPlace,
    pub attributes: Attributes,
}

impl Comm {
    /// The communicator of an agreed number, in which this process has `rank`.
    pub(crate) fn new(number: u32, rank: u32, group: Group, name: &CStr) -> Comm {
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
            operations: AtomicU32::new(0),
            nonblocking: AtomicU32::new(0),
            persistent: AtomicU32::new(0),
            holders: Holders::default(),
            arena: ArenaPlace::default(),
            attributes: Attributes::new(Holder::Comm),
        }
    }

    /// The inter-communicator of an agreed number between `local` and the processes of `remote`.
    pub(crate) fn inter(number: u32, local: Arc<Comm>, remote: Group) -> Comm {
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

    #[inline]
    fn number(&self) -> u32 {
        spread::number(self.word())
    }

    /// As its processes have agreed, before anything is sent.
    pub(crate) fn set_spread(&self, spread: Spread) {
        let word = spread.mark(self.number());
        self.number.store(word, Ordering::Relaxed);
    }

    pub(crate) fn spread(&self) -> Spread {
        Spread::of_word(self.word())
    }

    /// Its processes have agreed on its numbers. `id` is its handle.
    pub(crate) fn agreed(&self, number: u32, local: Option<u32>, spread: Spread, id: CommId) {
        self.number.store(spread.mark(number), Ordering::Relaxed);
        if let (Some(comm), Some(number)) = (&self.local, local) {
            comm.number.store(number, Ordering::Relaxed);
        }
        self.bind(id);
    }

    /// Errors of its requests find its handle.
    fn bind(&self, id: CommId) {
        let contexts = &process().contexts;
        self.numbers().for_each(|number| contexts.bind(number, id));
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
    pub fn sides(&self) -> Option<(&Arc<Comm>, &Group)> {
        self.local.as_ref().map(|local| (local, &self.peers))
    }

    /// The remote group of an inter-communicator (MPI-5.0 §7.6.1).
    pub fn remote_group(&self) -> Result<&Group> {
        self.sides().map(|(_, remote)| remote).ok_or_else(|| {
            let what = "an intra-communicator, which has no remote group";
            argument(Class::Comm, "comm", what)
        })
    }

    /// All that this communicator holds of [`Contexts`](crate::context::Contexts).
    fn numbers(&self) -> impl Iterator<Item = u32> {
        let local = self.local.as_ref().map(|local| local.number());
        let numbers = [Some(self.number()), local].into_iter().flatten();
        numbers.filter(|&number| number != UNAGREED)
    }

    /// Its numbers are free for others.
    pub(crate) fn release_numbers(&self) {
        let contexts = &process().contexts;
        self.numbers().for_each(|number| contexts.release(number));
    }

    /// A handle of it, if it has one still: for errors of its requests.
    pub(crate) fn id(&self) -> Option<CommId> {
        process().contexts.comm(self.number())
    }

    #[inline]
    pub(crate) fn context(&self, traffic: Traffic) -> u32 {
        // The marks beside the number fall off.
        self.word() << TRAFFIC_BITS | traffic as u32
    }

    /// The lane of its traffic.
    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.word() % LANES
    }

    /// The lane of a message between two ranks, the sender's and the receiver's. What stands for a wildcard may be any.
    #[inline(always)]
    pub(crate) fn lane_of(&self, traffic: Traffic, ranks: [u32; 2], tag: u32) -> u32 {
        let word = self.word();
        match traffic == Traffic::PointToPoint && spread::is_any(word) {
            true => spread::lane(word, ranks, tag),
            false => word % LANES,
        }
    }

    #[inline]
    pub(crate) fn peer(&self, rank: u32) -> Peer {
        self.peers.peer(rank)
    }

    pub fn topology(&self) -> Option<&Topology> {
        self.topology.as_deref()
    }

    pub(crate) fn shared_topology(&self) -> Option<Arc<Topology>> {
        self.topology.clone()
    }

    pub(crate) fn set_topology(&mut self, topology: Arc<Topology>) {
        self.topology = Some(topology);
    }

    pub fn handler(&self) -> Handler {
        self.handler.load()
    }

    pub fn set_handler(&self, handler: Handler) {
        self.handler.store(handler);
    }

    pub fn hints(&self) -> MutexGuard<'_, Hints> {
        self.hints.lock()
    }

    pub(crate) fn wildcards(&self) -> &Wildcards {
        &self.wildcards
    }

    pub fn name(&self) -> CString {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &CStr) {
        name.clone_into(&mut self.name.lock());
    }

    /// A tag for the next blocking collective operation, the same on all processes as they call them in one order.
    pub(crate) fn next_operation(&self) -> u32 {
        self.operations.fetch_add(1, Ordering::Relaxed) % NONBLOCKING_TAGS
    }

    /// A tag for the next nonblocking one. Of a row of their own: blocking operations never match them (MPI-5.0 §6.12),
    /// and there are programs, correct with libraries that have two rows, that do not call both kinds in one order.
    pub(crate) fn next_nonblocking(&self) -> u32 {
        let number = self.nonblocking.fetch_add(1, Ordering::Relaxed);
        NONBLOCKING_TAGS + number % NONBLOCKING_TAGS
    }

    /// A tag for a persistent collective operation, which no other has while 2^30 are prepared.
    pub(crate) fn next_persistent(&self) -> u32 {
        let number = self.persistent.fetch_add(1, Ordering::Relaxed);
        PERSISTENT_TAGS + number % PERSISTENT_TAGS
    }

    /// `MPI_Comm_compare`.
    pub fn compare(&self, other: &Comm) -> Comparison {
        if self.number() == other.number() {
            return Comparison::Identical;
        }
        let own = self.group().compare(other.group());
        let groups = match (self.sides(), other.sides()) {
            (None, None) => own,
            (Some((_, remote)), Some((_, other))) => own.max(remote.compare(other)),
            _ => Comparison::Unequal,
        };
        groups.max(Comparison::Congruent)
    }

    /// A rank that messages of this communicator may name, as an argument.
    #[inline]
    pub fn check_rank(&self, class: Class, name: &str, rank: i32) -> Result<u32> {
        match u32::try_from(rank) {
            Ok(rank) if rank < self.peers.size() => Ok(rank),
            _ => Err(self.not_a_rank(class, name, rank)),
        }
    }

    /// The process of a rank that messages of this communicator may name, as an argument.
    #[inline]
    pub(crate) fn check_peer(&self, name: &str, rank: i32) -> Result<Peer> {
        let peer = u32::try_from(rank)
            .ok()
            .and_then(|rank| self.peers.member(rank));
        peer.ok_or_else(|| self.not_a_rank(Class::Rank, name, rank))
    }

    #[cold]
    fn not_a_rank(&self, class: Class, name: &str, rank: i32) -> crate::Error {
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

/// Gives up a communicator that has no handle.
pub(crate) fn retire(comm: &Comm) {
    process().contexts.release(comm.number());
}

/// The predefined communicators are there in the world model only, and not for sessions before or after it.
#[inline]
fn in_world() -> bool {
    lifetime::world() == Phase::Active
}

/// The communicator that a handle names.
#[inline]
pub fn find(id: CommId) -> Result<&'static Comm> {
    find_in(process(), id)
}

/// As [`find`], by who has more to do with the process.
#[inline]
pub(crate) fn find_in(process: &'static Process, id: CommId) -> Result<&'static Comm> {
    let comm = match id {
        CommId::WORLD => in_world().then_some(&*process.world),
        CommId::SELF => in_world().then_some(&*process.own),
        // SAFETY: the maker of the identifier has promised it (`CommId::named`).
        CommId(handle) => unsafe { process.comms.lend(handle) },
    };
    comm.ok_or_else(not_a_comm)
}

/// As [`find`], kept alive for a call that takes long.
pub fn share(id: CommId) -> Result<Arc<Comm>> {
    let process = process();
    let comm = match id {
        CommId::WORLD => in_world().then(|| process.world.clone()),
        CommId::SELF => in_world().then(|| process.own.clone()),
        CommId(handle) => process.comms.share(handle),
    };
    comm.ok_or_else(not_a_comm)
}

#[cold]
fn not_a_comm() -> crate::Error {
    argument(Class::Comm, "comm", "not a communicator, or a freed one")
}

/// A handle for a new communicator, by which errors of its requests find it too.
pub(crate) fn register(comm: Comm) -> Result<CommId> {
    let process = process();
    let comm = Arc::new(comm);
    let id = process.comms.insert(comm.clone()).map(CommId);
    let id =
        id.ok_or_else(|| argument(Class::NoMem, "newcomm", "too many communicators (2^23)"))?;
    comm.bind(id);
    Ok(id)
}

/// `MPI_Comm_disconnect` (MPI-5.0 §11.10.4): all have come here, so what is pending can complete, and what is in the
/// buffer has left it.
pub fn disconnect(id: CommId) -> Result<()> {
    check_not_predefined(id)?;
    crate::buffered::flush(crate::buffered::Owner::Comm(id))?;
    crate::collective::barrier(id)?.run()?;
    free(id)
}

fn check_not_predefined(id: CommId) -> Result<()> {
    if id == CommId::WORLD || id == CommId::SELF {
        let what = "a predefined communicator cannot be freed";
        return Err(argument(Class::Comm, "comm", what));
    }
    Ok(())
}

/// `MPI_Comm_free`. Pending operations go on: they know their context and peers (MPI-5.0 §7.4.3). It stays if a
/// delete function of its attributes fails.
pub fn free(id: CommId) -> Result<()> {
    check_not_predefined(id)?;
    share(id)?.attributes.delete_all(id.0)?;
    let process = process();
    crate::buffered::flush(crate::buffered::Owner::Comm(id))?;
    let comm = process.comms.remove(id.0).ok_or_else(not_a_comm)?;
    crate::buffered::forget(Key::of(&comm));
    comm.arena.leave();
    comm.release_unless_held();
    Ok(())
}
