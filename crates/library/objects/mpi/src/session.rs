//! Sessions (MPI-5.0 §11.3): handles under which a process uses MPI without the world model, and the process sets they
//! know.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use crate::buffered::{self, Key};
use crate::error::handler::{HandlerCell, Kind, argument};
use crate::error::{Class, Error, Handler, Result};
use crate::group::{self, Group, GroupId};
use crate::hints::MEMORY_KINDS;
use crate::info::{self, InfoId};
use crate::lifetime;
use crate::process::{kind, process};
use crate::table::Table;

/// Names a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub u64);

#[derive(Debug)]
struct Session {
    handler: HandlerCell,
}

static SESSIONS: LazyLock<Table<Session>> = LazyLock::new(|| Table::new(kind::SESSION));

const THREAD_LEVEL: &CStr = c"thread_level";
const THREAD_LEVELS: [&str; 4] = [
    "MPI_THREAD_SINGLE",
    "MPI_THREAD_FUNNELED",
    "MPI_THREAD_SERIALIZED",
    "MPI_THREAD_MULTIPLE",
];

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

/// `MPI_Session_init`. The handler is the session's.
pub fn init(info: Option<InfoId>, handler: Handler) -> Result<SessionId> {
    let handler = handler.of(Kind::Session)?;
    let wanted = match info {
        Some(info) => info::value(info, THREAD_LEVEL)?,
        None => None,
    };
    if let Some(wanted) = wanted
        && !THREAD_LEVELS.contains(&&*wanted.to_string_lossy())
    {
        let what = format_args!("{THREAD_LEVEL:?} is {wanted:?}, no level of thread support");
        return Err(argument(Class::InfoValue, "info", what));
    }
    lifetime::open_session()?;
    let session = Session {
        handler: HandlerCell::new(handler),
    };
    let id = SESSIONS.insert(Arc::new(session)).map(SessionId);
    id.ok_or_else(|| {
        lifetime::close_session();
        argument(Class::NoMem, "session", "too many sessions (2^23)")
    })
}

/// `MPI_Session_finalize`, which detaches the session's buffer (MPI-5.0 §3.6). What was made from the session is the
/// program's to free before.
pub fn finalize(id: SessionId) -> Result<()> {
    check(id)?;
    lifetime::complete(process())?;
    SESSIONS.remove(id.0).ok_or_else(not_a_session)?;
    buffered::forget(Key::Session(id));
    lifetime::close_session();
    Ok(())
}

/// `MPI_Session_get_info`: threads may do anything, whatever was asked for.
pub fn info(id: SessionId) -> Result<InfoId> {
    check(id)?;
    info::create_with(&[(THREAD_LEVEL, THREAD_LEVELS[3]), MEMORY_KINDS])
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
    find(id)?.handler.store(handler.of(Kind::Session)?);
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
        let job = process().job();
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
