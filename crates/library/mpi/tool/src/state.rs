//! What tools have made, from the first initialisation to the last finalisation of the interface.

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use std::collections::BTreeMap;
use weft_error::Result;

use super::codes::{Code, error};
use super::counting::Handles;

/// What tools have made.
pub(super) struct Tools {
    /// `MPI_T_init_thread` calls that no `MPI_T_finalize` has answered yet.
    users: u32,
    /// The number of the next handle or session: none is used twice.
    next: u64,
    /// Handles of control variables: which one.
    pub controls: BTreeMap<u64, usize>,
    pub sessions: BTreeMap<u64, Handles>,
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
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

/// The tools' state, if a tool has initialised the interface.
pub(super) fn tools() -> Result<MappedMutexGuard<'static, Tools>> {
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
