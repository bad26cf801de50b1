//! This process's engine, and the signal by which the launcher asks what it waits for.

use std::sync::OnceLock;

use weft_engine::Engine;

use super::network::Network;

static ENGINE: OnceLock<Engine<Network>> = OnceLock::new();

/// What is said when someone asks what this process waits for, and it waits for nothing.
static BUSY_LINE: OnceLock<String> = OnceLock::new();

/// The engine of this process, which is initialised.
#[inline]
pub(crate) fn engine() -> &'static Engine<Network> {
    ENGINE
        .get()
        .expect("the shims let no call in before MPI_Init")
}

/// The engine, if there is one; for calls that may come before `MPI_Init`.
#[inline]
pub(crate) fn started() -> Option<&'static Engine<Network>> {
    ENGINE.get()
}

/// The engine of this process, which has `rank`, from here on.
pub(crate) fn begin(engine: Engine<Network>, rank: u32) {
    let line = format!("weft: rank {rank}: not waiting in an MPI call\n");
    let set = BUSY_LINE.set(line).is_ok() && ENGINE.set(engine).is_ok();
    assert!(set, "a process starts once");
    install_report_signal();
}

const REPORT_SIGNAL: i32 = libc::SIGUSR2;

extern "C" fn on_report_signal(_: i32) {
    // The thread that is interrupted may have yet to look at its `errno`.
    // SAFETY: the address of this thread's `errno`, which lives as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    if let Some(engine) = started() {
        // Loads, stores, a futex call and a write: all are safe in a signal handler.
        if let Some(line) = BUSY_LINE.get().filter(|_| engine.waiters() == 0) {
            // SAFETY: the bytes are valid; that nobody may read them is no concern of ours.
            unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
        }
        engine.ask_report();
    }
    // SAFETY: as above.
    unsafe { errno.write(before) };
}

/// Installs the report handler unless the program has one of its own.
fn install_report_signal() {
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
