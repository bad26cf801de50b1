//! How soon the agent gets a core.
//!
//! A program that polls memory uses up its time slices, and the agent that is to write there waits for one of them to end. Linux
//! lets a thread that wakes take the place of another at once if it has asked for shorter slices than the other (sched(7), Linux
//! 6.12); older kernels pass the request over.

use std::mem;

/// The shortest slice there is.
const SLICE_NS: u64 = 100_000;

/// `struct sched_attr` of sched_setattr(2), its first version.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Has the calling thread, if it is scheduled as usual, take short turns.
pub fn take_short_turns() {
    let mut attributes = SchedAttr::default();
    let size = mem::size_of::<SchedAttr>();
    // SAFETY: `attributes` is writable for `size`, then readable; 0 is the calling thread.
    unsafe {
        let read = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0);
        if read == 0 && attributes.policy == libc::SCHED_OTHER as u32 {
            attributes.runtime = SLICE_NS;
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
        }
    }
}
