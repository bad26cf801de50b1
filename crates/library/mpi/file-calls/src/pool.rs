//! Threads that read and write for nonblocking calls: they exist only while there is something to do.
//!
//! A call puts its work on a list and starts a thread if all that run have something to do and there are not too many. A thread
//! takes work until the list is empty, and ends; it says so under the list's lock, so that no work is left to nobody.

use std::collections::VecDeque;
use std::ffi::CStr;

use parking_lot::Mutex;
use weft_process::thread::Thread;

/// More calls to a file system at a time than this help few of them.
const THREADS: usize = 4;
const NAME: &CStr = c"weft-file";
/// What Rust gives a thread by itself; pages of it are there once they are used.
const STACK_BYTES: usize = 2 << 20;

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
    match Thread::start(NAME, STACK_BYTES, run) {
        Ok(thread) => thread.detach(),
        Err(_) => run(),
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
