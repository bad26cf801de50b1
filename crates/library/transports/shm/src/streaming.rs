//! Writing past the caches what another core is to read.
//!
//! A line that the other core has read last has to be taken from it before it is written again. Some cores that share no cache wait 25 ns for each such
//! line, a hundred times as long as the write takes. A streaming store does not ask for the line: the write goes to memory, and other copies of the line go. Then the reader
//! has to get it from there, so where cores share a cache plain stores are faster. Which it is, [`Stores`] times.

use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
use std::time::{Duration, Instant};

use crate::byte_times::{SLOW_PS, picoseconds};
use crate::layout::RING_BYTES;

/// Messages from this length on are timed and streamed: looking at the clock takes as long as to copy some hundred bytes.
const STREAMED_FROM: usize = 512;
/// Each of so many first messages is timed, and then one of so many.
const FIRST_TIMED: u32 = 8;
const TIMED_EVERY: u32 = 64;

/// Copies by streaming stores. They are done when it returns.
pub fn stream(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len());
    // SAFETY: any bytes are a value of the type.
    let (head, lines, tail) = unsafe { to.align_to_mut::<__m128i>() };
    let (first, rest) = from.split_at(head.len());
    let (middle, last) = rest.split_at(size_of_val(lines));
    head.copy_from_slice(first);
    tail.copy_from_slice(last);
    for (line, bytes) in lines.iter_mut().zip(middle.chunks_exact(16)) {
        // SAFETY: 16 bytes can be read, at any address, and `line` is aligned. Every x86-64 has the instructions.
        unsafe { _mm_stream_si128(line, _mm_loadu_si128(bytes.as_ptr().cast())) };
    }
    // Streaming stores may be seen after later ones: not after what tells of them.
    // SAFETY: every x86-64 has the instruction.
    unsafe { _mm_sfence() };
}

/// How packets are written into the ring to a peer.
#[derive(Default)]
pub struct Stores {
    /// What a byte takes by plain stores, in picoseconds; 0 while that is not known.
    plain_ps: u32,
    /// Packets that could be timed.
    packets: u32,
    /// Bytes of the ring that were written to, as long as not all were: to touch memory first takes longer.
    touched: usize,
    /// Where what is streamed is put together.
    staging: Vec<u8>,
}

impl Stores {
    /// Has `fill` write a packet to `place`.
    #[inline]
    pub fn write(&mut self, place: &mut [u8], fill: impl FnOnce(&mut [u8])) {
        if place.len() < STREAMED_FROM {
            return fill(place);
        }
        self.write_long(place, fill);
    }

    fn write_long(&mut self, place: &mut [u8], fill: impl FnOnce(&mut [u8])) {
        if self.touched < RING_BYTES {
            self.touched += place.len();
            return fill(place);
        }
        self.packets = self.packets.wrapping_add(1);
        if self.packets <= FIRST_TIMED || self.packets.is_multiple_of(TIMED_EVERY) {
            let begin = Instant::now();
            fill(place);
            self.note(place.len(), begin.elapsed());
        } else if self.plain_ps > SLOW_PS {
            self.staging.resize(place.len(), 0);
            fill(&mut self.staging);
            stream(&self.staging, place);
        } else {
            fill(place);
        }
    }

    /// A time may be too long, if the thread lost its core meanwhile, but never too short.
    fn note(&mut self, bytes: usize, time: Duration) {
        let found = picoseconds(bytes, time);
        self.plain_ps = match self.plain_ps {
            known if known > 0 && found > known => known + (found - known).min(known / 2 + 1),
            _ => found,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_streamed_is_what_was_there() {
        let from: Vec<u8> = (0..4096).map(|byte| (byte * 31) as u8).collect();
        let mut to = vec![0; 4096];
        for (begin, length) in [
            (0, 4096),
            (0, 0),
            (1, 5),
            (3, 13),
            (7, 100),
            (16, 64),
            (9, 4000),
        ] {
            to.fill(0);
            stream(&from[begin..begin + length], &mut to[begin..begin + length]);
            assert!(to[begin..begin + length] == from[begin..begin + length]);
            let outside = to[..begin].iter().chain(&to[begin + length..]);
            assert!(outside.copied().all(|byte| byte == 0), "{begin} {length}");
        }
    }

    fn noted(times: &[u64]) -> Stores {
        let mut stores = Stores::default();
        for &nanoseconds in times {
            stores.note(1000, Duration::from_nanos(nanoseconds));
        }
        stores
    }

    #[test]
    fn one_long_time_is_not_believed_and_a_short_one_is() {
        assert_eq!(noted(&[400]).plain_ps, 400);
        assert_eq!(noted(&[400, 40]).plain_ps, 40);
        assert_eq!(noted(&[40, 4000]).plain_ps, 61);
        assert!(noted(&[40, 400, 400, 400, 400]).plain_ps > SLOW_PS);
    }

    #[test]
    fn packets_are_whole_however_they_are_written() {
        let mut stores = Stores::default();
        for round in 0..400 {
            if round == 200 {
                stores.plain_ps = 10 * SLOW_PS;
            }
            for length in [1, 511, 512, 1000, 16_000] {
                let mut place = vec![0; length];
                stores.write(&mut place, |out| out.fill(round as u8 | 1));
                assert!(place.iter().all(|&byte| byte == round as u8 | 1));
            }
        }
    }
}
