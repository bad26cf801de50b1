//! The thread that makes progress while the program computes: it is there as long as anybody keeps it, as windows that span hosts do.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, current};

use parking_lot::Mutex;
use weft_engine::Background;

use super::engine::engine;
use crate::error::{Class, Error, Result};

/// Names the thread to debuggers; the kernel keeps 15 bytes.
const NAME: &str = "weft-progress";
/// It runs the engine and what is begun for it, and no function of the program's.
const STACK_BYTES: usize = 256 << 10;

/// Held by the thread while it runs: one that has been told to end may have yet to do so when another is started.
static RUNNING: Mutex<()> = Mutex::new(());

static OWNER: Mutex<Owner> = Mutex::new(Owner {
    keepers: 0,
    runner: None,
});

struct Owner {
    keepers: usize,
    runner: Option<Runner>,
}

/// The thread, from its start until it is joined.
struct Runner {
    background: Arc<Background>,
    thread: JoinHandle<()>,
}

impl Runner {
    fn start() -> io::Result<Runner> {
        let background = Arc::new(Background::new());
        let of_thread = background.clone();
        // A signal of the program's goes to threads of the program's.
        let signals = Signals::block();
        let thread = Builder::new()
            .name(NAME.into())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let _running = RUNNING.lock();
                engine().run_background(&of_thread);
            });
        drop(signals);
        Ok(Runner {
            background,
            thread: thread?,
        })
    }

    /// Has it end, and waits for that unless it is the caller: an operation may be the last that keeps it.
    fn end(self) {
        engine().end_background(&self.background);
        if self.thread.thread().id() != current().id() {
            // It has told of a panic, which would be a fault of the library's.
            let _ = self.thread.join();
        }
    }
}

/// While it exists, the thread does.
#[must_use]
pub(crate) struct Kept(());

/// Keeps the thread, and starts it if nobody does yet.
pub(crate) fn keep() -> Result<Kept> {
    let mut owner = OWNER.lock();
    if owner.runner.is_none() {
        let started = Runner::start().map_err(|error| {
            let what = format!("the thread that makes progress cannot be started: {error}");
            Error::new(Class::Other, what)
        });
        owner.runner = Some(started?);
    }
    owner.keepers += 1;
    Ok(Kept(()))
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut owner = OWNER.lock();
        owner.keepers -= 1;
        let runner = match owner.keepers {
            0 => owner.runner.take(),
            _ => None,
        };
        drop(owner);
        if let Some(runner) = runner {
            runner.end();
        }
    }
}

/// Ends the thread, whoever keeps it: MPI cannot be called any more. The next to keep it starts another.
pub(crate) fn finish() {
    // Not under the lock, which the thread takes if it lets go of something that keeps it.
    let runner = OWNER.lock().runner.take();
    if let Some(runner) = runner {
        runner.end();
    }
}

/// The calling thread's signals, all of them blocked while this exists.
pub(crate) struct Signals(libc::sigset_t);

impl Signals {
    pub(crate) fn block() -> Signals {
        // SAFETY: both sets are valid, and the first is filled before it is used.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Signals(before)
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: a valid set, as the thread had it before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}
