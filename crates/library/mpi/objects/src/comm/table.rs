//! The communicators that handles name.

use std::sync::{Arc, OnceLock};

use weft_error::{Class, Error, Result, argument};
use weft_handle::table::Table;
use weft_handle::{CommId, kind};
use weft_process::phase::{self, Phase};

use super::communicator::Comm;
use super::numbers;
use crate::group::Group;
use crate::handler::{Handler, Kind};

static COMMS: Table<Comm> = Table::new(kind::COMM);

/// The communicators that are there from the start.
struct Predefined {
    world: Arc<Comm>,
    self_comm: Arc<Comm>,
    whole_job: Comm,
}

static PREDEFINED: OnceLock<Predefined> = OnceLock::new();

/// Makes the predefined communicators of a process that has `rank` among `size`.
pub fn begin(rank: u32, size: u32) {
    let predefined = Predefined {
        world: Arc::new(Comm::new(0, rank, Group::first(size), c"MPI_COMM_WORLD")),
        self_comm: Arc::new(Comm::new(1, 0, Group::listed(vec![rank]), c"MPI_COMM_SELF")),
        whole_job: Comm::new(numbers::WHOLE_JOB, rank, Group::first(size), c""),
    };
    let set = PREDEFINED.set(predefined);
    assert!(set.is_ok(), "a process starts once");
    world().bind(CommId::WORLD);
    self_comm().bind(CommId::SELF);
}

#[inline]
fn predefined() -> &'static Predefined {
    PREDEFINED
        .get()
        .expect("the shims let no call in before MPI_Init")
}

/// `MPI_COMM_WORLD`, whether or not the program may use it now.
#[inline]
fn world() -> &'static Arc<Comm> {
    &predefined().world
}

/// `MPI_COMM_SELF`, whether or not the program may use it now.
#[inline]
pub fn self_comm() -> &'static Arc<Comm> {
    &predefined().self_comm
}

/// All processes of the job, with no handle: where those meet that have no communicator yet.
pub fn whole_job() -> &'static Comm {
    &predefined().whole_job
}

/// The predefined communicators are there in the world model only, and not for sessions before or after it.
#[inline]
fn in_world() -> bool {
    phase::world() == Phase::Active
}

/// The communicator that a handle names.
#[inline]
pub fn find(id: CommId) -> Result<&'static Comm> {
    let comm = match id {
        CommId::WORLD => in_world().then(|| &**world()),
        CommId::SELF => in_world().then(|| &**self_comm()),
        // SAFETY: the maker of the identifier has promised it (`CommId::named`).
        _ => unsafe { COMMS.lend(id.handle()) },
    };
    comm.ok_or_else(not_a_comm)
}

/// As [`find`], to ask for a rank or a size: programs of sessions ask the predefined communicators, which the standard gives to the
/// world model alone (MPI-5.0 §11.2), and other libraries answer.
#[inline]
pub fn find_known(id: CommId) -> Result<&'static Comm> {
    match id {
        CommId::WORLD => Ok(world()),
        CommId::SELF => Ok(self_comm()),
        _ => find(id),
    }
}

/// As [`find`], kept alive for a call that takes long.
pub fn share(id: CommId) -> Result<Arc<Comm>> {
    let comm = match id {
        CommId::WORLD => in_world().then(|| world().clone()),
        CommId::SELF => in_world().then(|| self_comm().clone()),
        _ => COMMS.share(id.handle()),
    };
    comm.ok_or_else(not_a_comm)
}

/// As [`share`], for what its processes do together: an error if it is revoked.
pub fn share_unrevoked(id: CommId) -> Result<Arc<Comm>> {
    let comm = share(id)?;
    comm.check_revoked()?;
    Ok(comm)
}

/// As [`share`], whether or not the program may use it now.
pub fn share_known(id: CommId) -> Result<Arc<Comm>> {
    match id {
        CommId::WORLD => Ok(world().clone()),
        CommId::SELF => Ok(self_comm().clone()),
        _ => share(id),
    }
}

#[cold]
fn not_a_comm() -> Error {
    argument(Class::Comm, "comm", "not a communicator, or a freed one")
}

/// The handler of a communicator.
pub fn handler_of(comm: CommId) -> Result<Handler> {
    Ok(find(comm)?.handler())
}

/// Replaces a communicator's handler.
pub fn set_handler(comm: CommId, handler: Handler) -> Result<()> {
    find(comm)?.set_handler(handler.for_kind(Kind::Comm)?);
    Ok(())
}

/// A handle for a new communicator, by which errors of its requests find it too.
pub fn register(comm: Comm) -> Result<CommId> {
    let comm = Arc::new(comm);
    let handle = COMMS.insert_agreed(comm.clone());
    let handle =
        handle.ok_or_else(|| argument(Class::NoMem, "newcomm", "too many communicators (2^23)"))?;
    // SAFETY: it is new. Nobody but the program, which has promised not to free it in other calls, gets to know it.
    let id = unsafe { CommId::named(handle) };
    comm.bind(id);
    Ok(id)
}

/// Takes a communicator's handle away.
pub fn remove(id: CommId) -> Result<Arc<Comm>> {
    COMMS.remove(id.handle()).ok_or_else(not_a_comm)
}

/// The live handle of a communicator at an index.
pub fn current(index: u32) -> Option<u64> {
    COMMS.current(index)
}
