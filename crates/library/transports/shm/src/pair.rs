//! What two processes of a host are to each other: how near their cores are, what a byte costs between them, and
//! whether the kernel copies between their memories. It is found once, when the two link, and all that chooses a way
//! for bytes goes by it.
//!
//! 1. A process *shows* a piece of memory that it shares with a peer: it writes all of it. A new link has such a piece.
//! 2. The peer that takes the link up reads the piece for the first time, in parts that it times, and says in its word
//!    for that process what it has *found* ([`Base::distance`](crate::base::Base::distance)). What stands there stays.
//! 3. Both read the word; a process also has one of its own for the peer. Distance has no direction: either will do.
//!
//! A part may take too long, if the process loses its core meanwhile, but not too short: the fastest of them counts.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use weft_sync::atomic::{AtomicU32, Ordering};

use crate::cma::{self, Direction};
use crate::segment::PAGE;

/// The memory that is shown, in bytes, and the parts in which it is read: each takes some hundred nanoseconds, several
/// times as long as a look at the clock.
pub const SHOWN_BYTES: usize = 16 << 10;
const PART_BYTES: usize = 4 << 10;
/// The process's own copies are timed so many times.
const OWN_COPIES: usize = 8;

/// In a word: nothing was found yet; the two are near, or far from each other.
const NEAR: u32 = 1;
const FAR: u32 = 2;

/// What a process knows of itself and another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// A core that copies what the other has just written, and copies it once more, takes no longer than the kernel does
    /// for one copy. So it is, too, where the kernel does not copy. Not, as long as that was not found.
    pub is_near: bool,
    /// The kernel copies between the two (process_vm_readv(2)).
    pub copies: bool,
}

/// What a byte takes, in picoseconds, between near cores and others: passed on by two cores, as one copies it in and
/// the other out; and copied by the kernel. Measured with 256 KiB to 2 MiB on two cores of an AMD EPYC (Zen 4, Linux 6.18)
/// that share a cache: 54, and 95 to 142; on a Xeon of 16 cores 58 to 61, and 60 to 96. Far ones are cores of such an
/// EPYC that share no cache: there a line that the other core has read is dear to write.
const PASSED_PS: [u64; 2] = [55, 450];
const COPIED_PS: [u64; 2] = [95, 150];

impl Pair {
    /// What a byte takes that one writes into shared memory and the other copies out, in picoseconds.
    pub fn passed_byte_ps(&self) -> u64 {
        PASSED_PS[usize::from(!self.is_near)]
    }

    /// What a byte takes that the kernel copies from one to the other, where it does, in picoseconds.
    pub fn copied_byte_ps(&self) -> u64 {
        COPIED_PS[usize::from(!self.is_near)]
    }
}

/// Whether either of two words says something.
pub fn is_known(words: [&AtomicU32; 2]) -> bool {
    words.iter().any(|word| word.load(Ordering::Relaxed) != 0)
}

/// Whether either of two words says near, where they are not known to be far.
pub fn is_near(words: [&AtomicU32; 2]) -> bool {
    let found = words.map(|word| word.load(Ordering::Relaxed));
    found.contains(&NEAR) && !found.contains(&FAR)
}

/// Rule 1.
///
/// # Safety
/// [`SHOWN_BYTES`] from there on are this process's to write.
pub unsafe fn show(shown: *mut u8) {
    // SAFETY: by the contract.
    unsafe { shown.write_bytes(1, SHOWN_BYTES) };
}

/// Rule 2.
///
/// # Safety
/// [`SHOWN_BYTES`] from there on can be read. Whoever writes there meanwhile spoils the time alone: what is read is not
/// used.
pub unsafe fn find(shown: *const u8, word: &AtomicU32) {
    if word.load(Ordering::Relaxed) != 0 {
        return;
    }
    for at in (0..SHOWN_BYTES).step_by(PAGE) {
        // SAFETY: by the contract. It has the page mapped.
        unsafe { shown.add(at).read_volatile() };
    }
    // Not on the stack, which may be small.
    let mut copy = vec![0u8; PART_BYTES];
    let times = (0..SHOWN_BYTES / PART_BYTES).map(|part| {
        let begin = Instant::now();
        // SAFETY: by the contract; the copy is as long as a part.
        unsafe {
            let from = shown.add(part * PART_BYTES);
            copy.as_mut_ptr().copy_from_nonoverlapping(from, PART_BYTES);
        }
        std::hint::black_box(&mut copy);
        begin.elapsed()
    });
    let fastest = times.min().unwrap_or_default();
    let found = match is_passed_on_quickly(fastest) {
        true => NEAR,
        false => FAR,
    };
    word.store(found, Ordering::Relaxed);
}

/// Whether bytes that are read so quickly are better copied twice than once by the kernel.
fn is_passed_on_quickly(part: Duration) -> bool {
    static OWN: OnceLock<Option<[Duration; 2]>> = OnceLock::new();
    match *OWN.get_or_init(own_copies) {
        // The kernel reads what lies there as this core does; the rest of its time is its own.
        Some([plain, by_kernel]) => part + plain <= by_kernel,
        None => true,
    }
}

/// What a part of this process's memory takes to be copied in its own cache: plainly, and by the kernel as if it were
/// another process's. None if that does not copy.
fn own_copies() -> Option<[Duration; 2]> {
    let (mut from, mut to) = (vec![1u8; SHOWN_BYTES], vec![2u8; SHOWN_BYTES]);
    let pid = std::process::id();
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..OWN_COPIES {
        let begin = Instant::now();
        std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&from));
        fastest[0] = fastest[0].min(begin.elapsed());
        let (mine, theirs) = (to.as_mut_ptr(), from.as_mut_ptr() as u64);
        let begin = Instant::now();
        // SAFETY: `to` is as long.
        unsafe { cma::copy(Direction::Read, pid, mine, theirs, SHOWN_BYTES) }.ok()?;
        fastest[1] = fastest[1].min(begin.elapsed());
    }
    // The call itself takes as long for a part as for all: messages are longer.
    Some(fastest.map(|time| time * PART_BYTES as u32 / SHOWN_BYTES as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_in_no_time_is_near_and_what_takes_very_long_is_not() {
        let own = own_copies();
        let is_quick = own.is_none_or(|[plain, kernel]| plain <= kernel);
        assert_eq!(is_passed_on_quickly(Duration::ZERO), is_quick);
        assert_eq!(is_passed_on_quickly(Duration::from_secs(1)), own.is_none());
    }

    #[test]
    fn what_was_found_stays_and_either_side_knows_it() {
        let mut memory = vec![0u8; SHOWN_BYTES];
        let words = [0, 0].map(AtomicU32::new);
        let is_near = || is_near([&words[0], &words[1]]);
        assert!(!is_near(), "nothing is known");
        // SAFETY: it is as long as said.
        unsafe { show(memory.as_mut_ptr()) };
        for found in [NEAR, FAR] {
            words[0].store(found, Ordering::Relaxed);
            // SAFETY: as above.
            unsafe { find(memory.as_ptr(), &words[0]) };
            assert_eq!(words[0].load(Ordering::Relaxed), found);
            assert_eq!(is_near(), found == NEAR);
        }
        // SAFETY: as above.
        unsafe { find(memory.as_ptr(), &words[1]) };
        assert!([NEAR, FAR].contains(&words[1].load(Ordering::Relaxed)));
        assert!(!is_near(), "one says far");
    }
}
