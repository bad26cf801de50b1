//! Sessions (MPI-5.0 §11.3): handles under which a process uses MPI without the world model, and the process sets they
//! know.

use std::ffi::CStr;
use std::sync::Arc;

use super::comm::hints::MEMORY_KINDS;
use super::group::{self, Group};
use super::handler::{Handler, HandlerCell, Kind};
use super::info;
use crate::error::{Class, Error, Result, argument};
use crate::handle::table::Table;
use crate::handle::{GroupId, InfoId, SessionId, kind};
use crate::process::job::job;

#[derive(Debug)]
struct Session {
    handler: HandlerCell,
}

static SESSIONS: Table<Session> = Table::new(kind::SESSION);

const THREAD_LEVEL: &CStr = c"thread_level";
const THREAD_LEVELS: [&str; 4] = [
    "MPI_THREAD_SINGLE",
    "MPI_THREAD_FUNNELED",
    "MPI_THREAD_SERIALIZED",
    "MPI_THREAD_MULTIPLE",
];
/// The place of the last in them.
const MULTIPLE: usize = THREAD_LEVELS.len() - 1;

fn find(id: SessionId) -> Result<Arc<Session>> {
    SESSIONS.share(id.0).ok_or_else(not_a_session)
}

#[cold]
fn not_a_session() -> Error {
    argument(
        Class::Session,
        "session",
        "not a session, or a finalised one",
    )
}

/// Whether there is such a session.
pub fn check(id: SessionId) -> Result<()> {
    find(id).map(drop)
}

/// Whether an info object asks that all threads may call; an error if it asks for a level of thread support that there is none of.
pub(crate) fn wants_threads(info: InfoId) -> Result<bool> {
    let Some(wanted) = info::value(info, THREAD_LEVEL)? else {
        return Ok(false);
    };
    let level = wanted.to_string_lossy();
    match THREAD_LEVELS.iter().position(|known| *known == level) {
        Some(level) => Ok(level == MULTIPLE),
        None => {
            let what = format_args!("{THREAD_LEVEL:?} is {wanted:?}, no level of thread support");
            Err(argument(Class::InfoValue, "info", what))
        }
    }
}

/// A handle for a new session.
pub(crate) fn register(handler: Handler) -> Result<SessionId> {
    let session = Session {
        handler: HandlerCell::new(handler),
    };
    let id = SESSIONS.insert(Arc::new(session)).map(SessionId);
    id.ok_or_else(|| argument(Class::NoMem, "session", "too many sessions (2^23)"))
}

/// Takes a session's handle away.
pub(crate) fn remove(id: SessionId) -> Result<()> {
    SESSIONS.remove(id.0).map(drop).ok_or_else(not_a_session)
}

/// `MPI_Session_get_info`: threads may do anything, whatever was asked for.
pub fn info(id: SessionId) -> Result<InfoId> {
    check(id)?;
    info::create_with(&[(THREAD_LEVEL, THREAD_LEVELS[MULTIPLE]), MEMORY_KINDS])
}

/// The live handle of a session at an index.
pub(crate) fn current(index: u32) -> Option<u64> {
    SESSIONS.current(index)
}

/// The handler of a session.
pub fn handler_of(id: SessionId) -> Result<Handler> {
    Ok(find(id)?.handler.load())
}

/// Replaces a session's handler.
pub fn set_handler(id: SessionId, handler: Handler) -> Result<()> {
    find(id)?.handler.store(handler.for_kind(Kind::Session)?);
    Ok(())
}

/// A process set (MPI-5.0 §11.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessSet {
    World,
    Own,
    /// The processes that can share memory with this one.
    Host,
}

const PROCESS_SETS: [(&CStr, ProcessSet); 3] = [
    (c"mpi://WORLD", ProcessSet::World),
    (c"mpi://SELF", ProcessSet::Own),
    (c"weft://HOST", ProcessSet::Host),
];

impl ProcessSet {
    fn named(name: &CStr) -> Option<ProcessSet> {
        Some(PROCESS_SETS[ProcessSet::place(name)?].1)
    }

    /// Where the set of a name stands in the list.
    fn place(name: &CStr) -> Option<usize> {
        let name = name.to_bytes();
        let mut sets = PROCESS_SETS.iter();
        sets.position(|(known, _)| known.to_bytes().eq_ignore_ascii_case(name))
    }

    fn group(self) -> Group {
        let job = job();
        match self {
            ProcessSet::World => Group::first(job.size),
            ProcessSet::Own => Group::listed(vec![job.rank]),
            ProcessSet::Host => Group::listed(job.local_ranks.clone()),
        }
    }
}

/// The number of a set by its name, and its processes, of which this is one.
pub(crate) fn process_set(name: &CStr) -> Option<(usize, Group)> {
    let place = ProcessSet::place(name)?;
    Some((place, PROCESS_SETS[place].1.group()))
}

/// `MPI_Session_get_num_psets`.
pub fn set_count(id: SessionId) -> Result<usize> {
    check(id)?;
    Ok(PROCESS_SETS.len())
}

/// `MPI_Session_get_nth_pset`: its name.
pub fn nth_set(id: SessionId, n: i32) -> Result<&'static CStr> {
    check(id)?;
    let set = usize::try_from(n).ok().and_then(|n| PROCESS_SETS.get(n));
    set.map(|set| set.0).ok_or_else(|| {
        let what = format_args!("{n} is none of the {} process sets", PROCESS_SETS.len());
        argument(Class::Arg, "n", what)
    })
}

fn set_named(name: &CStr) -> Result<ProcessSet> {
    ProcessSet::named(name).ok_or_else(|| {
        let what = format_args!("{name:?} is no process set");
        argument(Class::Arg, "pset_name", what)
    })
}

/// `MPI_Session_get_pset_info`.
pub fn set_info(id: SessionId, name: &CStr) -> Result<InfoId> {
    check(id)?;
    let size = set_named(name)?.group().size().to_string();
    info::create_with(&[(c"mpi_size", &size)])
}

/// `MPI_Group_from_session_pset`.
pub fn group(id: SessionId, name: &CStr) -> Result<GroupId> {
    check(id)?;
    group::register(set_named(name)?.group().derived_from(Some(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sets() {
        for (name, set) in PROCESS_SETS {
            assert_eq!(ProcessSet::named(name), Some(set));
        }
        assert_eq!(ProcessSet::named(c"MPI://world"), Some(ProcessSet::World));
        assert_eq!(ProcessSet::named(c"mpi://WORLDS"), None);
        assert_eq!(ProcessSet::named(c""), None);
    }
}
