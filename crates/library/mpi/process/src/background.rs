//! The thread that makes progress while the program computes: it is there as long as anybody keeps it, as windows that span hosts do.
//!
//! What lets go of it last may do so in an operation, which any thread polls that makes progress, the thread itself too, so it waits for
//! nobody: it tells the thread to end. The next one to keep it starts another, which begins when the one before it has ended. Threads that
//! were told to end are waited for when MPI ends, and where many of them have not got to it yet, by who keeps the next.

use std::ffi::CStr;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use weft_engine::Background;
use weft_error::{Class, Error, Result};

use super::engine::engine;
use super::thread::Thread;

const NAME: &CStr = c"weft-progress";
/// So many threads may have been told to end and have not.
const MOST_ENDING: usize = 8;
/// How long a thread waits for the one before until it looks whether it is to end itself.
const TURN: Duration = Duration::from_millis(1);
/// It runs the engine and what is begun for it, and no function of the program's.
const STACK_BYTES: usize = 256 << 10;

/// Held by the thread while it runs: one that has been told to end may have yet to do so when another is started.
static RUNNING: Mutex<()> = Mutex::new(());

static OWNER: Mutex<Owner> = Mutex::new(Owner {
    keepers: 0,
    runner: None,
    ending: Vec::new(),
});

struct Owner {
    keepers: usize,
    runner: Option<Runner>,
    /// Told to end, or about to be told, by whoever put it here.
    ending: Vec<Thread>,
}

impl Owner {
    /// Puts the thread, if there is one, among those that end. The caller tells it to, when it has left the lock.
    fn retire(&mut self) -> Option<Arc<Background>> {
        let runner = self.runner.take()?;
        self.ending.push(runner.thread);
        Some(runner.background)
    }
}

/// The thread, from its start until it is told to end.
struct Runner {
    background: Arc<Background>,
    thread: Thread,
}

impl Runner {
    fn start() -> io::Result<Runner> {
        let background = Arc::new(Background::new());
        let of_thread = background.clone();
        let thread = Thread::start(NAME, STACK_BYTES, move || run(&of_thread))?;
        Ok(Runner { background, thread })
    }
}

/// Runs when the one before has ended. A thread that is told to end before that waits for nobody.
fn run(background: &Background) {
    while !background.is_ended() {
        if let Some(_running) = RUNNING.try_lock_for(TURN) {
            return engine().run_background(background);
        }
    }
}

fn end(background: Option<Arc<Background>>) {
    if let Some(background) = background {
        engine().end_background(&background);
    }
}

/// Waits for a thread that ends, unless it is the caller.
fn wait_for(thread: Thread) {
    match thread.is_current() {
        true => thread.detach(),
        false => thread.join(),
    }
}

/// While it exists, the thread does.
#[must_use]
pub struct Kept(());

/// Keeps the thread, and starts it if nobody does yet. Not for operations: it may wait.
pub fn keep() -> Result<Kept> {
    let mut owner = OWNER.lock();
    let ended = owner.ending.extract_if(.., |thread| thread.is_ended());
    ended.for_each(Thread::join);
    while owner.ending.len() > MOST_ENDING {
        let oldest = owner.ending.remove(0);
        // A thread that ends may let go of something that keeps one.
        MutexGuard::unlocked(&mut owner, || wait_for(oldest));
    }
    if owner.runner.is_none() {
        let started = Runner::start().map_err(|error| {
            let what = format!("the thread that makes progress cannot be started: {error}");
            let class = match error.kind() {
                io::ErrorKind::OutOfMemory => Class::NoMem,
                _ => Class::Other,
            };
            Error::new(class, what)
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
        let ended = match owner.keepers {
            0 => owner.retire(),
            _ => None,
        };
        drop(owner);
        end(ended);
    }
}

/// Ends the thread, whoever keeps it: MPI cannot be called any more. The next to keep it starts another.
pub fn finish() {
    let mut owner = OWNER.lock();
    let ended = owner.retire();
    let threads = std::mem::take(&mut owner.ending);
    // Not under the lock, which a thread takes if it lets go of something that keeps one.
    drop(owner);
    end(ended);
    threads.into_iter().for_each(wait_for);
}
