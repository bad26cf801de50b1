//! The tool information interface (MPI-5.0 §15.3), but for events: this library has none.
//!
//! It is there before `MPI_Init` and after `MPI_Finalize`, by a count of its own, and calls no error handler: each
//! error is a code of [`Code`].

pub mod category;
pub mod control;
pub mod performance;
pub mod session;

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use std::collections::BTreeMap;

use crate::error::{Class, Error, Result};

/// The interface's error codes (MPI-5.0 §15.3.10), with the ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    NotInitialized = 1003,
    Invalid = 1006,
    InvalidIndex = 1007,
    InvalidItem = 1008,
    InvalidSession = 1009,
    InvalidHandle = 1010,
    InvalidName = 1011,
    ControlSetNever = 1015,
    NoWrite = 1016,
    NoStartStop = 1017,
}

#[cold]
pub fn error(code: Code) -> Error {
    Error::new(Class::Other, format!("{code:?}")).with_code(code as i32)
}

/// How much a variable is for whom (MPI-5.0 §15.3.1), with the ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Verbosity {
    UserBasic = 0x9,
    TunerBasic = 0x11,
    TunerDetail = 0x12,
    DeveloperBasic = 0x21,
}

/// What tools have made.
struct Tools {
    /// `MPI_T_init_thread` calls that no `MPI_T_finalize` has answered yet.
    users: u32,
    /// The number of the next handle or session: none is used twice.
    next: u64,
    /// Handles of control variables: which one.
    controls: BTreeMap<u64, usize>,
    sessions: BTreeMap<u64, session::Handles>,
}

/// Above the ABI's predefined handles.
const FIRST_HANDLE: u64 = 4096;

static TOOLS: Mutex<Tools> = Mutex::new(Tools {
    users: 0,
    next: FIRST_HANDLE,
    controls: BTreeMap::new(),
    sessions: BTreeMap::new(),
});

impl Tools {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

/// The tools' state, if a tool has initialised the interface.
fn tools() -> Result<MappedMutexGuard<'static, Tools>> {
    MutexGuard::try_map(TOOLS.lock(), |tools| (tools.users > 0).then_some(tools))
        .map_err(|_| error(Code::NotInitialized))
}

/// Only between initialisation and the last finalisation.
pub fn enter() -> Result<()> {
    tools().map(drop)
}

/// `MPI_T_init_thread`: all threads may call, whatever was asked for.
pub fn initialize() {
    TOOLS.lock().users += 1;
}

/// `MPI_T_finalize`: the last one frees what is left.
pub fn finalize() -> Result<()> {
    let mut tools = tools()?;
    tools.users -= 1;
    if tools.users == 0 {
        tools.controls.clear();
        tools.sessions.clear();
    }
    Ok(())
}

/// The index of what has a name.
fn named<'a>(names: impl IntoIterator<Item = &'a str>, name: &[u8]) -> Result<usize> {
    let mut names = names.into_iter();
    let found = names.position(|candidate| candidate.as_bytes() == name);
    found.ok_or_else(|| error(Code::InvalidName))
}

/// What has an index.
fn indexed<T>(list: &[T], index: i32) -> Result<&T> {
    let place = usize::try_from(index).ok();
    place
        .and_then(|index| list.get(index))
        .ok_or_else(|| error(Code::InvalidIndex))
}
