//! Threads that read and write for nonblocking calls: they exist only while there is something to do.
//!
//! A call puts its work on a list and starts a thread if all that run have something to do and there are not too many. A thread
//! takes work until the list is empty, and ends; it says so under the list's lock, so that no work is left to nobody.

use std::collections::VecDeque;
use std::thread::Builder;

use parking_lot::Mutex;

use crate::process::background::Signals;

/// More calls to a file system at a time than this help few of them.
const THREADS: usize = 4;
/// Names the threads to debuggers; the kernel keeps 15 bytes.
const NAME: &str = "weft-file";

type Work = Box<dyn FnOnce() + Send>;

static POOL: Mutex<Pool> = Mutex::new(Pool {
    waiting: VecDeque::new(),
    threads: 0,
});

struct Pool {
    waiting: VecDeque<Work>,
    threads: usize,
}

/// Has `work` done by a thread of the pool; by the caller if there can be none.
pub(super) fn submit(work: impl FnOnce() + Send + 'static) {
    let mut pool = POOL.lock();
    pool.waiting.push_back(Box::new(work));
    if pool.threads == THREADS {
        return;
    }
    pool.threads += 1;
    drop(pool);
    // A signal of the program's goes to threads of the program's.
    let signals = Signals::block();
    let started = Builder::new().name(NAME.into()).spawn(run);
    drop(signals);
    if started.is_err() {
        run();
    }
}

fn run() {
    while let Some(work) = next() {
        work();
    }
}

fn next() -> Option<Work> {
    let mut pool = POOL.lock();
    let work = pool.waiting.pop_front();
    if work.is_none() {
        pool.threads -= 1;
    }
    work
}
