//! Copies by the kernel out of other processes (`process_vm_readv`): all from one, or each from a process of its own.

use std::time::Instant;

use crate::by_cores::{ByCores, counts};
use crate::median::{median, of_batches};
use crate::pages::Pages;
use crate::team;

/// Lengths, in bytes: from where a message takes more than a packet.
const COPIED: [usize; 4] = [4 << 10, 32 << 10, 256 << 10, MOST];
const MOST: usize = 1 << 20;

/// A copy of one length by so many cores at once, in microseconds: the middle core's.
#[derive(Clone, Debug)]
pub struct KernelCopies {
    /// All out of one process: they contend for a lock of its address space.
    pub of_one_us: ByCores,
    /// Each out of a process of its own.
    pub of_own_us: ByCores,
}

/// None where a process may not read the memory of one that it has started.
pub fn measure(cpus: &[usize]) -> Option<Vec<(usize, KernelCopies)>> {
    let memory = Pages::new(MOST);
    let memory = memory.bytes();
    let sources: Option<Vec<Source>> = cpus.iter().map(|_| Source::new()).collect();
    let sources = sources?;
    let once = sources[0].read(memory, &mut [0]);
    once.then(|| {
        let of = |bytes| (bytes, of_length(cpus, &sources, &memory[..bytes]));
        COPIED.into_iter().map(of).collect()
    })
}

fn of_length(cpus: &[usize], sources: &[Source], memory: &[u8]) -> KernelCopies {
    let time = |count: usize, of_own: bool| {
        let times = team::run(&cpus[..count], |member| {
            let source = &sources[if of_own { member.index } else { 0 }];
            let mut copy = Pages::new(memory.len());
            let time = |_| {
                member.meet();
                let begin = Instant::now();
                source.read(memory, copy.bytes_mut());
                begin.elapsed().as_nanos() as f64 / 1e3
            };
            of_batches(time)
        });
        (count, median(times))
    };
    let all = || counts(cpus.len());
    KernelCopies {
        of_one_us: all().map(|count| time(count, false)).collect(),
        of_own_us: all().map(|count| time(count, true)).collect(),
    }
}

/// A process that has this one's memory of the moment, and waits until it is ended.
struct Source(libc::pid_t);

impl Source {
    fn new() -> Option<Source> {
        // SAFETY: the child calls nothing that another thread of its parent might have held.
        match unsafe { libc::fork() } {
            -1 => None,
            0 => loop {
                // SAFETY: the first has it end with its parent; the second waits for a signal.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    libc::pause();
                }
            },
            id => Some(Source(id)),
        }
    }

    /// Copies from where `memory` is, in the process. Whether that is allowed.
    fn read(&self, memory: &[u8], copy: &mut [u8]) -> bool {
        let bytes = memory.len().min(copy.len());
        let vector = |base: *mut u8| libc::iovec {
            iov_base: base.cast(),
            iov_len: bytes,
        };
        let local = vector(copy.as_mut_ptr());
        let remote = vector(memory.as_ptr().cast_mut());
        // SAFETY: the copy has room for so many bytes; what is read is another process's.
        let read = unsafe { libc::process_vm_readv(self.0, &local, 1, &remote, 1, 0) };
        read == bytes as isize
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // SAFETY: it is a child of this process that nobody else waits for.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}
