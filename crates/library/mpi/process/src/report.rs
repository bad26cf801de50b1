//! What this process says when its launcher asks, by a signal, what it waits for.
//!
//! A thread that waits in the engine says so itself, with all that is pending (`weft_engine`'s `report`). While one waits
//! for the launcher the handler says so, as nothing of the engine's is waited for then: whether that is so stands in
//! `FENCE`, written by the thread that is in the fence, of which a process has one at a time, and read by the handler.
//! Where nobody waits the handler says that.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::engine::started;

/// A fence of the whole job, by the number of what is said of it.
#[derive(Clone, Copy)]
pub enum Fence {
    /// Joining the job, in the first call of a model.
    Joining = 1,
    /// Leaving it.
    Leaving = 2,
}

/// What is said of a process that waits nowhere, and in each fence.
const WHAT: [&str; 3] = [
    "not waiting in an MPI call",
    "waiting in MPI_Init or MPI_Session_init until every rank has called one",
    "waiting in MPI_Finalize, or at its exit behind the last session, until every rank has come there",
];

/// The same as lines of this process. A handler may allocate nothing.
static LINES: OnceLock<[String; WHAT.len()]> = OnceLock::new();

/// The fence that a thread is in, or 0.
static FENCE: AtomicUsize = AtomicUsize::new(0);

/// While a thread is in a fence.
pub struct InFence(());

impl InFence {
    pub fn enter(fence: Fence) -> InFence {
        FENCE.store(fence as usize, Ordering::Relaxed);
        InFence(())
    }
}

impl Drop for InFence {
    fn drop(&mut self) {
        FENCE.store(0, Ordering::Relaxed);
    }
}

const REPORT_SIGNAL: i32 = libc::SIGUSR2;

/// Reports are given from here on, of the process that has this rank.
pub fn begin(rank: u32) {
    LINES.get_or_init(|| WHAT.map(|what| format!("weft: rank {rank}: {what}\n")));
    install();
}

extern "C" fn on_report_signal(_: i32) {
    // The thread that is interrupted may have yet to look at its `errno`.
    // SAFETY: the address of this thread's `errno`, which lives as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    report();
    // SAFETY: as above.
    unsafe { errno.write(before) };
}

/// Loads, stores, a futex call and a write: all are safe in a signal handler.
fn report() {
    let fence = FENCE.load(Ordering::Relaxed);
    let waiting = started().filter(|engine| engine.waiters() > 0);
    if fence != 0 || waiting.is_none() {
        say(fence);
    }
    if let Some(engine) = waiting {
        engine.ask_report();
    }
}

fn say(line: usize) {
    if let Some(lines) = LINES.get() {
        let line = &lines[line];
        // SAFETY: the bytes are valid; that nobody may read them is no concern of ours.
        unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
}

/// Installs the handler unless the program has one of its own.
fn install() {
    // SAFETY: sigaction with valid structures; the handler does only what is allowed in one.
    unsafe {
        let mut current: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(REPORT_SIGNAL, std::ptr::null(), &mut current) != 0
            || current.sa_sigaction != libc::SIG_DFL
        {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_report_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(REPORT_SIGNAL, &action, std::ptr::null_mut());
    }
}
