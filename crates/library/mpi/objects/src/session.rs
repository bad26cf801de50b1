//! Sessions (MPI-5.0 §11.3): handles under which a process uses MPI without the world model, and the process sets they
//! know.

use std::ffi::CStr;
use std::sync::Arc;

use weft_error::{Class, Error, Result, argument};
use weft_handle::table::Table;
use weft_handle::{GroupId, InfoId, SessionId, kind};
use weft_process::job::job;
use weft_process::thread_level::ThreadLevel;

use super::comm::hints::MEMORY_KINDS;
use super::group::{self, Group};
use super::handler::{Handler, HandlerCell, Kind};
use super::info;

#[derive(Debug)]
struct Session {
    handler: HandlerCell,
    level: ThreadLevel,
}

static SESSIONS: Table<Session> = Table::new(kind::SESSION);

const THREAD_LEVEL: &CStr = c"thread_level";
/// Programs written for Open MPI's first sessions use this key.
const THREAD_SUPPORT_LEVEL: &CStr = c"mpi_thread_support_level";

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

/// The level of thread support that an info object asks for; an error if there is none of that name.
pub fn asked_level(info: InfoId) -> Result<Option<ThreadLevel>> {
    for key in [THREAD_LEVEL, THREAD_SUPPORT_LEVEL] {
        if let Some(wanted) = info::value(info, key)? {
            let level = ThreadLevel::named(&wanted.to_string_lossy());
            return level.map(Some).ok_or_else(|| {
                let what = format_args!("{key:?} is {wanted:?}, no level of thread support");
                argument(Class::InfoValue, "info", what)
            });
        }
    }
    Ok(None)
}

/// A handle for a new session.
pub fn register(handler: Handler, asked: Option<ThreadLevel>) -> Result<SessionId> {
    let session = Session {
        handler: HandlerCell::new(handler),
        level: asked.unwrap_or(ThreadLevel::Multiple),
    };
    let id = SESSIONS.insert(Arc::new(session)).map(SessionId);
    id.ok_or_else(|| argument(Class::NoMem, "session", "too many sessions (2^23)"))
}

/// Takes a session's handle away.
pub fn remove(id: SessionId) -> Result<()> {
    SESSIONS.remove(id.0).map(drop).ok_or_else(not_a_session)
}

/// `MPI_Session_get_info`. The level of a session that asked for none is the implementation's choice (MPI-5.0 §11.3.1).
pub fn info(id: SessionId) -> Result<InfoId> {
    let level = find(id)?.level;
    info::create_with(&[(THREAD_LEVEL, level.name()), MEMORY_KINDS])
}

/// The live handle of a session at an index.
pub fn current(index: u32) -> Option<u64> {
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
pub fn process_set(name: &CStr) -> Option<(usize, Group)> {
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
