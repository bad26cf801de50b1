//! Switches between std and loom. Nothing else in the workspace names loom.

#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub use crate::yielding::yield_now;

/// A word that is not atomic; who may touch it when is the protocol's matter. Loom checks that.
#[cfg(not(loom))]
#[repr(transparent)]
pub struct Plain(std::cell::UnsafeCell<u64>);

#[cfg(not(loom))]
impl Plain {
    #[inline]
    pub fn read(&self) -> u64 {
        // SAFETY: the protocol gives the word to the caller. Volatile, as a hostile process may write it.
        unsafe { self.0.get().read_volatile() }
    }

    #[inline]
    pub fn write(&self, value: u64) {
        // SAFETY: the protocol gives the word to the caller.
        unsafe { self.0.get().write(value) };
    }
}

#[cfg(loom)]
pub struct Plain(loom::cell::UnsafeCell<u64>);

#[cfg(loom)]
impl Plain {
    pub fn new(value: u64) -> Plain {
        Plain(loom::cell::UnsafeCell::new(value))
    }

    pub fn read(&self) -> u64 {
        // SAFETY: the protocol gives the word to the caller; loom checks it.
        self.0.with(|word| unsafe { *word })
    }

    pub fn write(&self, value: u64) {
        // SAFETY: the protocol gives the word to the caller; loom checks it.
        self.0.with_mut(|word| unsafe { *word = value });
    }
}

/// A SeqCst load. Loom knows no total order of SeqCst operations, but its read-modify-writes read the latest
/// value, which is what the protocols here need of the order.
#[inline]
pub fn latest(word: &AtomicU32) -> u32 {
    #[cfg(not(loom))]
    return word.load(Ordering::SeqCst);
    #[cfg(loom)]
    word.fetch_or(0, Ordering::SeqCst)
}

/// As [`latest`].
#[inline]
pub fn latest64(word: &AtomicU64) -> u64 {
    #[cfg(not(loom))]
    return word.load(Ordering::SeqCst);
    #[cfg(loom)]
    word.fetch_or(0, Ordering::SeqCst)
}

/// A SeqCst store before a look at another word. Loom, which knows no total order of SeqCst operations, knows one of fences: who looks at
/// this word has one too ([`full_fence`]).
#[inline]
pub fn tell(word: &AtomicU64, value: u64) {
    word.swap(value, Ordering::SeqCst);
    #[cfg(loom)]
    full_fence();
}

/// Orders what stands before it against what stands behind it, for all threads: a SeqCst fence. A locked instruction on the own stack takes
/// an eighth of the time of the `mfence` that compilers make of one.
#[inline]
pub fn full_fence() {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    // SAFETY: changes nothing; the compiler takes it for an access to any memory.
    unsafe {
        std::arch::asm!("lock or dword ptr [rsp], 0");
    }
    #[cfg(all(any(not(target_arch = "x86_64"), miri), not(loom)))]
    std::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// A model of all that three preemptions can do, or as many as `LOOM_MAX_PREEMPTIONS` says: many models do not end without a bound.
#[cfg(all(test, loom))]
pub fn bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(model);
}

/// Begins to fetch a line that will be written soon. A hint: any address will do.
#[inline]
pub fn prefetch_to_write<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a prefetch does not fault and changes nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(not(target_arch = "x86_64"), loom))]
    let _ = address;
}

#[cfg(not(loom))]
pub use crate::pipe::Pipe;

/// Under loom a pipe of one byte, and one other descriptor beside it: a lock and a condition, so that a missing wake-up is found
/// as a deadlock.
#[cfg(loom)]
#[derive(Default)]
pub struct Pipe {
    found: loom::sync::Mutex<crate::pipe::Found>,
    changed: loom::sync::Condvar,
}

#[cfg(loom)]
impl Pipe {
    fn change(&self, change: impl FnOnce(&mut crate::pipe::Found)) {
        change(&mut self.found.lock().unwrap());
        self.changed.notify_one();
    }

    pub fn ring(&self) {
        self.change(|found| found.rung = true);
    }

    /// The other descriptor becomes readable, or is read.
    #[cfg(test)]
    pub fn set_other(&self, readable: bool) {
        self.change(|found| found.other = readable);
    }

    pub fn wait(
        &self,
        _timeout: std::time::Duration,
        _others: &[std::os::fd::RawFd],
    ) -> crate::pipe::Found {
        let mut found = self.found.lock().unwrap();
        while *found == crate::pipe::Found::default() {
            found = self.changed.wait(found).unwrap();
        }
        *found
    }

    pub fn drain(&self) {
        self.found.lock().unwrap().rung = false;
    }
}

/// A word that one thread can sleep on: a futex, or under loom a lock and a condition, so that a missing
/// wake-up is found as a deadlock.
#[cfg(not(loom))]
#[repr(transparent)]
pub struct SleepWord(AtomicU32);

#[cfg(not(loom))]
impl SleepWord {
    pub fn new(value: u32) -> SleepWord {
        SleepWord(AtomicU32::new(value))
    }

    /// Sleeps while the word is `expected`; may wake for no reason. False if the time is over.
    pub fn wait(&self, expected: u32, timeout: Option<std::time::Duration>) -> bool {
        crate::futex::wait(&self.0, expected, timeout) != crate::futex::Wait::TimedOut
    }

    pub fn wake(&self) {
        crate::futex::wake(&self.0, 1);
    }

    /// As [`wait`](Self::wait), with the word in a shared mapping and the waker in any process.
    pub fn wait_shared(&self, expected: u32, timeout: std::time::Duration) {
        crate::futex::wait_shared(&self.0, expected, Some(timeout));
    }

    pub fn wake_shared(&self) {
        crate::futex::wake_shared(&self.0, 1);
    }
}

#[cfg(not(loom))]
impl std::ops::Deref for SleepWord {
    type Target = AtomicU32;
    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}

#[cfg(loom)]
pub struct SleepWord {
    word: AtomicU32,
    lock: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

#[cfg(loom)]
impl SleepWord {
    pub fn new(value: u32) -> SleepWord {
        SleepWord {
            word: AtomicU32::new(value),
            lock: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }

    pub fn wait(&self, expected: u32, _timeout: Option<std::time::Duration>) -> bool {
        let held = self.lock.lock().unwrap();
        if self.word.load(Ordering::SeqCst) == expected {
            drop(self.woken.wait(held).unwrap());
        }
        true
    }

    pub fn wake(&self) {
        drop(self.lock.lock().unwrap());
        self.woken.notify_one();
    }

    pub fn wait_shared(&self, expected: u32, timeout: std::time::Duration) {
        self.wait(expected, Some(timeout));
    }

    pub fn wake_shared(&self) {
        self.wake();
    }
}

#[cfg(loom)]
impl std::ops::Deref for SleepWord {
    type Target = AtomicU32;
    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}
