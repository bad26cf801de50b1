//! Threads that do the same at once, each pinned to a CPU.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Looks at a word before a thread gives up its core for a moment, in case that the other has none.
const SPINS: usize = 1 << 14;

pub struct Member<'a> {
    pub index: usize,
    pub count: usize,
    arrived: &'a AtomicUsize,
}

impl Member<'_> {
    /// Waits until all have come here, so often each.
    pub fn meet(&self) {
        let number = self.arrived.fetch_add(1, Ordering::AcqRel) / self.count + 1;
        await_word(self.arrived, number * self.count);
    }
}

/// What each of the threads has found, in the CPUs' order.
pub fn run<T: Send>(cpus: &[usize], work: impl Fn(Member) -> T + Sync) -> Vec<T> {
    let (arrived, work) = (AtomicUsize::new(0), &work);
    let member = |index| Member {
        index,
        count: cpus.len(),
        arrived: &arrived,
    };
    thread::scope(|scope| {
        let begin = |(index, &cpu): (usize, &usize)| {
            let member = member(index);
            scope.spawn(move || {
                pin(cpu);
                work(member)
            })
        };
        let threads: Vec<_> = cpus.iter().enumerate().map(begin).collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        ends.map(|end| end.expect("no thread panics")).collect()
    })
}

/// Waits until a word is at least `value`.
pub fn await_word(word: &AtomicUsize, value: usize) {
    let mut spins = 0;
    while word.load(Ordering::Acquire) < value {
        std::hint::spin_loop();
        spins += 1;
        if spins % SPINS == 0 {
            thread::yield_now();
        }
    }
}

/// CPUs that this process may run on.
pub fn usable_cpus() -> Vec<usize> {
    // SAFETY: a set of CPUs is bits.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is so long, and this thread's to write.
    let done = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    if done != 0 {
        return vec![0];
    }
    let all = 0..libc::CPU_SETSIZE as usize;
    // SAFETY: the number is one that a set has.
    all.filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .collect()
}

/// Has the calling thread run there alone. Where it may not, it stays where it is.
fn pin(cpu: usize) {
    // SAFETY: a set of CPUs is bits; the number is one that a set has (`usable_cpus`).
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    // SAFETY: the set is so long, and is read.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) };
}
