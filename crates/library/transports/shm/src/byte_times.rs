//! What a byte takes on the ways by which long messages go: filled into a ring and drained out of it, or copied from process to process, by the receiver
//! alone or with the sender's help.
//!
//! Through a ring a byte is copied twice, otherwise once, but by the kernel, which has to find the other process's pages first. Which is faster
//! depends on the kernel, on the processor and on whether the two cores share a cache. No machine tells that for certain, least of all a
//! virtual one, and it changes when threads move. So each process times, now and then, a piece of what it does and says in a word of its
//! base, one for each process of the host, what it has found ([`Base::byte_times`](crate::base::Base::byte_times)). The sender of a message
//! compares: its own filling and the receiver's draining with the receiver's copying. Both ways the two share the work of one message, or do
//! all of one direction each where messages go both ways, so that sums are what to compare. And it helps to copy unless that takes it so much longer
//! than the receiver that the latter must have touched that memory since: then it will again, and has to get each line back.
//!
//! A time may be too long, if the thread lost its core meanwhile or touched fresh memory, but never too short: a shorter one is believed at
//! once, a longer one by and by. Only the choice of a faster way depends on it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use weft_sync::atomic::{AtomicU32, Ordering};

use crate::cma::{self, Way};

/// Pieces from this length on are timed: looking at the clock takes as long as some hundred bytes.
pub const TIMED_BYTES: usize = 4 << 10;
/// Each of so many first transfers is timed, and then one of so many.
const FIRST_TIMED: u32 = 8;
const TIMED_EVERY: u32 = 4;
/// The slower way is tried with the first of a row of messages to a peer, then with the fourth, and so on by this factor, and at last with
/// one of so many.
const TRIED_FACTOR: u32 = 4;
const TRIED_EVERY: u32 = 64;
/// A sender helps that takes no more than this many tenths of what the receiver does.
const HELPS_UP_TO: u32 = 25;
/// One that takes longer helps nevertheless with the first few of so many messages: with a few in a row, as only the first has to get
/// lines that the receiver has had, unless it touches them each time.
const HELPED_EVERY: u32 = 256;
const HELPED_FIRST: u32 = 8;

/// A time rises by no more than this part of it at once: one that was interrupted would have the other way be taken until this one is tried again.
const RISE: u32 = 8;

/// The kernel is timed with copies of so many bytes, so many times.
const OWN_BYTES: usize = 16 << 10;
const OWN_COPIES: usize = 8;

/// Bits of a word for each time, and picoseconds a byte in a unit of it; 0 is none.
const BITS: u32 = 8;
const MASK: u32 = (1 << BITS) - 1;
const UNIT_PS: u32 = 4;
const LONGEST_PS: u32 = MASK * UNIT_PS;

/// What is timed. Its place here is that of its bits in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Filling a ring, for that process.
    Fill,
    /// Draining a ring, that of that process.
    Drain,
    /// Copying out of that process's memory.
    Copy,
    /// Copying into that process's memory.
    Help,
}

/// Which transfers of one kind are timed.
#[derive(Default)]
pub struct Timing {
    transfers: u32,
}

impl Timing {
    /// Whether the next transfer is to be timed.
    pub fn next(&mut self) -> bool {
        self.transfers = self.transfers.wrapping_add(1);
        self.transfers <= FIRST_TIMED || self.transfers.is_multiple_of(TIMED_EVERY)
    }
}

fn picoseconds(bytes: usize, time: Duration) -> u32 {
    let found = 1000 * time.as_nanos() / bytes.max(1) as u128;
    found.clamp(UNIT_PS.into(), LONGEST_PS.into()) as u32
}

/// Whether a core that reads so many bytes in that time, which another has just written, is so near that to pass them on by copying twice takes no longer
/// than to have the kernel do so once. It does, too, where the kernel does not.
pub fn is_near(bytes: usize, time: Duration) -> bool {
    static OWN: OnceLock<Option<[u32; 2]>> = OnceLock::new();
    match *OWN.get_or_init(own_copies) {
        // The kernel reads what lies there as this core does; the rest of its time is its own.
        Some([plain, by_kernel]) => picoseconds(bytes, time) + plain <= by_kernel,
        None => true,
    }
}

/// What a byte of this process's memory takes to be copied in its own cache: plainly, and by the kernel as if it were another process's. None
/// if that does not copy.
fn own_copies() -> Option<[u32; 2]> {
    let (mut from, mut to) = (vec![1u8; OWN_BYTES], vec![2u8; OWN_BYTES]);
    let pid = std::process::id();
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..OWN_COPIES {
        let begin = Instant::now();
        std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&from));
        fastest[0] = fastest[0].min(begin.elapsed());
        let (mine, theirs) = (to.as_mut_ptr(), from.as_mut_ptr() as u64);
        let begin = Instant::now();
        // SAFETY: `to` is as long.
        unsafe { cma::copy(Way::Read, pid, mine, theirs, OWN_BYTES) }.ok()?;
        fastest[1] = fastest[1].min(begin.elapsed());
    }
    Some(fastest.map(|time| picoseconds(OWN_BYTES, time)))
}

fn read(word: u32, timed: Timed) -> Option<u32> {
    let found = word >> (BITS * timed as u32) & MASK;
    (found > 0).then_some(found * UNIT_PS)
}

/// Notes that a piece took so long. The word is the own process's, whose lanes may write at the same time: then one of their times is lost.
pub fn note(word: &AtomicU32, timed: Timed, bytes: usize, time: Duration) {
    let found = picoseconds(bytes, time);
    let all = word.load(Ordering::Relaxed);
    let believed = match read(all, timed) {
        Some(known) if found > known => known + (found - known).min(known / RISE + UNIT_PS),
        _ => found,
    };
    let shift = BITS * timed as u32;
    let others = all & !(MASK << shift);
    word.store(others | (believed / UNIT_PS) << shift, Ordering::Relaxed);
}

/// Whether the other way than the faster one is tried: `number` is the message's among those to the peer.
fn is_tried(number: u32) -> bool {
    let is_power = number.is_power_of_two() && number.ilog2().is_multiple_of(TRIED_FACTOR.ilog2());
    number.is_multiple_of(TRIED_EVERY) || number < TRIED_EVERY && is_power
}

/// Whether message `number` goes better through a ring than from process to process, by the sender's word of the receiver, and by the
/// receiver's of the sender: untrusted memory, in which any value will do.
pub fn is_ring_chosen(sender: &AtomicU32, receiver: &AtomicU32, number: u32) -> bool {
    let sender = sender.load(Ordering::Relaxed);
    let receiver = receiver.load(Ordering::Relaxed);
    let ring = read(sender, Timed::Fill).zip(read(receiver, Timed::Drain));
    let is_faster = match (ring, read(receiver, Timed::Copy)) {
        (Some((fill, drain)), Some(copy)) => fill + drain <= copy,
        // A ring costs its memory first.
        (None, Some(_)) => false,
        // What receivers do not copy, because of their layout, say, goes through rings.
        (_, None) => true,
    };
    is_faster != is_tried(number)
}

/// Whether the sender of message `number` is to help the receiver to copy it. Both sides ask, and may find otherwise meanwhile.
pub fn is_help_chosen(sender: &AtomicU32, receiver: &AtomicU32, number: u32) -> bool {
    let help = read(sender.load(Ordering::Relaxed), Timed::Help);
    let copy = read(receiver.load(Ordering::Relaxed), Timed::Copy);
    let helps = help
        .zip(copy)
        .is_none_or(|(help, copy)| 10 * help <= HELPS_UP_TO * copy);
    helps || number % HELPED_EVERY < HELPED_FIRST
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 32 << 10;

    /// A piece at so many picoseconds a byte.
    fn time(picoseconds: u64) -> Duration {
        Duration::from_nanos(PIECE as u64 * picoseconds / 1000)
    }

    /// A sender's word and a receiver's with these times.
    fn words(fill: u64, drain: u64, copy: u64) -> [AtomicU32; 2] {
        let words = [AtomicU32::new(0), AtomicU32::new(0)];
        note(&words[0], Timed::Fill, PIECE, time(fill));
        note(&words[1], Timed::Drain, PIECE, time(drain));
        note(&words[1], Timed::Copy, PIECE, time(copy));
        words
    }

    #[test]
    fn what_takes_less_in_all_is_chosen() {
        for (fill, drain, copy, ring) in [
            (20, 20, 73, true),
            (60, 60, 52, false),
            (40, 300, 150, false),
            (1, 1, 5000, true),
            (5000, 5000, 1, false),
        ] {
            let [sender, receiver] = words(fill, drain, copy);
            assert_eq!(
                is_ring_chosen(&sender, &receiver, 3),
                ring,
                "{fill} {drain} {copy}"
            );
        }
    }

    #[test]
    fn a_copy_is_tried_first_and_then_a_ring() {
        let [sender, receiver] = [AtomicU32::new(0), AtomicU32::new(0)];
        assert!(!is_ring_chosen(&sender, &receiver, 1));
        // Nothing was copied, or it was not timed.
        assert!(is_ring_chosen(&sender, &receiver, 2));
        note(&receiver, Timed::Copy, PIECE, time(50));
        assert!(!is_ring_chosen(&sender, &receiver, 3));
        assert!(is_ring_chosen(&sender, &receiver, 4));
        note(&sender, Timed::Fill, PIECE, time(20));
        assert!(!is_ring_chosen(&sender, &receiver, 5));
        note(&receiver, Timed::Drain, PIECE, time(20));
        assert!(is_ring_chosen(&sender, &receiver, 6));
    }

    #[test]
    fn the_slower_way_is_tried_early_and_then_now_and_then() {
        for [sender, receiver] in [words(20, 20, 73), words(60, 60, 52)] {
            let faster = is_ring_chosen(&sender, &receiver, 3);
            let tried: Vec<u32> = (1..300)
                .filter(|&number| is_ring_chosen(&sender, &receiver, number) != faster)
                .collect();
            assert_eq!(tried, [1, 4, 16, 64, 128, 192, 256]);
        }
    }

    #[test]
    fn a_sender_that_takes_longer_helps_now_and_then() {
        for (help, always) in [(50, true), (115, true), (140, false), (400, false)] {
            let [sender, receiver] = words(60, 60, 50);
            note(&sender, Timed::Help, PIECE, time(help));
            let helped = (0..1024).filter(|&number| is_help_chosen(&sender, &receiver, number));
            assert_eq!(helped.count(), if always { 1024 } else { 32 }, "{help}");
        }
        let [sender, receiver] = words(60, 60, 50);
        assert!(is_help_chosen(&sender, &receiver, 3));
    }

    #[test]
    fn one_piece_that_took_long_is_not_believed_and_a_short_one_is() {
        let word = AtomicU32::new(0);
        let known = || read(word.load(Ordering::Relaxed), Timed::Drain).unwrap();
        let note = |picoseconds| note(&word, Timed::Drain, PIECE, time(picoseconds));
        note(60);
        let first = known();
        note(500);
        assert!(
            (first + 1..first + first / 4).contains(&known()),
            "{}",
            known()
        );
        (0..30).for_each(|_| note(500));
        assert!(known() > 450);
        note(61);
        assert!(known() <= first + UNIT_PS);
    }

    #[test]
    fn times_stand_beside_each_other() {
        let [_, word] = words(1, 2000, 40);
        note(&word, Timed::Fill, PIECE, Duration::ZERO);
        let word = word.load(Ordering::Relaxed);
        let all = [Timed::Fill, Timed::Drain, Timed::Copy].map(|timed| read(word, timed));
        assert_eq!(all, [Some(UNIT_PS), Some(LONGEST_PS), Some(36)]);
        assert_eq!(read(word, Timed::Help), None);
    }

    #[test]
    fn who_reads_in_no_time_is_near_and_who_takes_very_long_is_not() {
        assert!(
            is_near(PIECE, Duration::ZERO)
                || own_copies().is_none_or(|[plain, kernel]| plain >= kernel)
        );
        assert!(!is_near(PIECE, Duration::from_secs(1)) || own_copies().is_none());
    }

    #[test]
    fn the_first_transfers_are_timed_and_some_later_ones() {
        let mut timing = Timing::default();
        let timed: Vec<bool> = (0..80).map(|_| timing.next()).collect();
        let (first, later) = timed.split_at(FIRST_TIMED as usize);
        assert!(first.iter().all(|&one| one));
        assert_eq!(later.iter().filter(|&&one| one).count(), 18);
    }
}
