//! The process table that parallel debuggers read in mpiexec: the MPIR Process Acquisition Interface, version 1.1.
//!
//! A debugger stops this process before it reads or writes any of this, and finds it by the names of C in the file's symbols,
//! of which `scripts/install.sh` keeps these. All of it is written by mpiexec's one thread; what debuggers write is read anew each time.

use super::Pid;
use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::hint::black_box;
use std::os::unix::ffi::OsStringExt;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed};

/// `MPIR_PROCDESC`: an entry of the table.
#[repr(C)]
pub struct Described {
    host_name: *const c_char,
    executable_name: *const c_char,
    pid: c_int,
}

/// One entry for each rank, in their order.
#[used]
#[unsafe(no_mangle)]
pub static MPIR_proctable: AtomicPtr<Described> = AtomicPtr::new(ptr::null_mut());
#[used]
#[unsafe(no_mangle)]
pub static MPIR_proctable_size: AtomicI32 = AtomicI32::new(0);
/// A debugger that starts mpiexec sets it.
#[used]
#[unsafe(no_mangle)]
pub static MPIR_being_debugged: AtomicI32 = AtomicI32::new(0);
/// Why `MPIR_Breakpoint` is called: [`SPAWNED`] or [`ABORTING`].
#[used]
#[unsafe(no_mangle)]
pub static MPIR_debug_state: AtomicI32 = AtomicI32::new(0);
#[used]
#[unsafe(no_mangle)]
pub static MPIR_debug_abort_string: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
/// That it is there says that this is no rank.
#[used]
#[unsafe(no_mangle)]
pub static MPIR_i_am_starter: AtomicI32 = AtomicI32::new(1);
/// That it is there says that mpiexec holds ranks in MPI_Init until it goes on itself, so that a debugger may attach to some of
/// them alone.
#[used]
#[unsafe(no_mangle)]
pub static MPIR_partial_attach_ok: AtomicI32 = AtomicI32::new(1);

const SPAWNED: c_int = 1;
const ABORTING: c_int = 2;

/// Where a debugger stops mpiexec.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn MPIR_Breakpoint() -> *mut c_void {
    black_box(ptr::null_mut())
}

/// Whether a debugger has started mpiexec, and may stop it for long.
pub fn is_debugged() -> bool {
    MPIR_being_debugged.load(Relaxed) != 0
}

/// All ranks are in MPI_Init. Returns when the debugger, if there is one, has done what it wanted.
pub fn tell_spawned() {
    MPIR_debug_state.store(SPAWNED, Relaxed);
    MPIR_Breakpoint();
}

/// The job is ended because of a failure.
pub fn tell_aborting(problem: &str) {
    if let Ok(text) = CString::new(problem) {
        // A job aborts once, and the text is there to its end.
        MPIR_debug_abort_string.store(text.into_raw(), Relaxed);
    }
    MPIR_debug_state.store(ABORTING, Relaxed);
    MPIR_Breakpoint();
}

/// A rank's process.
pub struct Process {
    pub host: String,
    pub program: OsString,
    pub pid: Pid,
}

/// Keeps what [`MPIR_proctable`] points to.
pub struct ProcessTable {
    entries: Vec<Described>,
    /// What the entries point to: host and program of each.
    names: Vec<[CString; 2]>,
    missing: usize,
}

impl ProcessTable {
    /// For so many ranks, none of which is known yet. There is one table at a time.
    pub fn new(ranks: u32) -> ProcessTable {
        let empty = |_| Described {
            host_name: ptr::null(),
            executable_name: ptr::null(),
            pid: 0,
        };
        ProcessTable {
            entries: (0..ranks).map(empty).collect(),
            names: vec![Default::default(); ranks as usize],
            missing: ranks as usize,
        }
    }

    /// Debuggers see the table from when every rank is known.
    pub fn set(&mut self, rank: u32, process: Process) {
        let Some(entry) = self.entries.get_mut(rank as usize) else {
            return;
        };
        if entry.pid == 0 {
            self.missing -= 1;
        }
        // Neither holds a zero byte: they come from a command line and from the file system.
        let name = |bytes: Vec<u8>| CString::new(bytes).unwrap_or_default();
        let names = [
            name(process.host.into_bytes()),
            name(process.program.into_vec()),
        ];
        *entry = Described {
            host_name: names[0].as_ptr(),
            executable_name: names[1].as_ptr(),
            pid: process.pid,
        };
        self.names[rank as usize] = names;
        if self.missing == 0 {
            MPIR_proctable.store(self.entries.as_mut_ptr(), Relaxed);
            MPIR_proctable_size.store(self.entries.len() as c_int, Relaxed);
        }
    }
}

impl Drop for ProcessTable {
    fn drop(&mut self) {
        MPIR_proctable_size.store(0, Relaxed);
        MPIR_proctable.store(ptr::null_mut(), Relaxed);
    }
}
