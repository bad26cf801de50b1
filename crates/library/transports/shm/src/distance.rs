//! How far apart two processes' cores are: what it takes to read what the other has just written.
//!
//! Where the two share a cache, a byte comes out of a ring in less time than the kernel needs to copy it from process to process.
//! Where they do not, it comes through the other's cache or through memory, which takes several times as long, twice. Which it is
//! no machine tells for certain, least of all a virtual one, and it changes when threads move. So a receiver times, now and
//! then, a piece that it takes out of a ring, and says in its base what it has found, a word for each process of the host; senders
//! look there ([`Base::drain_time`](crate::base::Base::drain_time)).
//!
//! A time may be too long, if the thread lost its core meanwhile or touched fresh memory, but never too short: a shorter one is believed at
//! once, a longer one by and by. Only the choice of a faster way depends on it.

use std::time::Duration;

use weft_sync::atomic::{AtomicU32, Ordering};

/// Pieces from this length on are timed: looking at the clock takes as long as a kilobyte.
pub const TIMED_BYTES: usize = 8 << 10;
/// Each of so many first transfers is timed, and then one of so many.
const FIRST_TIMED: u32 = 8;
const TIMED_EVERY: u32 = 8;
/// To a process that is far a transfer goes through a ring nevertheless, one of so many: the receiver times no other.
const PROBED_EVERY: u32 = 64;

/// Picoseconds a byte: from here on cores are far apart. Through a cache that both share it takes 20 to 80, through memory 300 and more.
const FAR_PS: u32 = 200;
/// More is not believed of a single piece.
const LONGEST_PS: u32 = 3 * FAR_PS;
/// What is taken for granted before anything was timed.
const FIRST_PS: u32 = FAR_PS / 4;

/// Which transfers to this lane are timed.
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

/// Picoseconds a byte.
fn picoseconds(bytes: usize, time: Duration) -> u32 {
    (1000 * time.as_nanos() / bytes.max(1) as u128).min(LONGEST_PS.into()) as u32
}

/// Whether a core that reads so many bytes in that time, which another has just written, shares a cache with it.
pub fn is_near(bytes: usize, time: Duration) -> bool {
    picoseconds(bytes, time) < FAR_PS
}

/// A piece of so many bytes was taken out of a ring in that time.
pub fn note(word: &AtomicU32, bytes: usize, time: Duration) {
    let found = picoseconds(bytes, time);
    let known = match word.load(Ordering::Relaxed) {
        0 => FIRST_PS,
        known => known,
    };
    let believed = match found < known {
        true => found,
        false => known + (found - known) / 4,
    };
    word.store(believed.max(1), Ordering::Relaxed);
}

/// Whether the process that has written the word is far from the one that it is about. Of untrusted memory: any value will do.
fn is_far(word: &AtomicU32) -> bool {
    word.load(Ordering::Relaxed) >= FAR_PS
}

/// Whether a message goes better through a ring than from process to process: `number` is its number among those to the peer.
pub fn is_ring_faster(word: &AtomicU32, number: u32) -> bool {
    !is_far(word) || number.is_multiple_of(PROBED_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 32 << 10;

    /// A piece at so many picoseconds a byte.
    fn time(picoseconds: u64) -> Duration {
        Duration::from_nanos(PIECE as u64 * picoseconds / 1000)
    }

    #[test]
    fn a_peer_is_near_until_pieces_say_otherwise() {
        let word = AtomicU32::new(0);
        assert!(is_ring_faster(&word, 1));
        note(&word, PIECE, time(40));
        assert!(is_ring_faster(&word, 1));
        let pieces = (0..).take_while(|_| {
            note(&word, PIECE, time(500));
            !is_far(&word)
        });
        assert!((1..8).contains(&pieces.count()));
    }

    #[test]
    fn one_piece_that_took_long_is_not_believed_and_a_short_one_is() {
        let word = AtomicU32::new(0);
        note(&word, PIECE, Duration::from_secs(1));
        assert!(!is_far(&word));
        (0..20).for_each(|_| note(&word, PIECE, time(500)));
        assert!(is_far(&word));
        note(&word, PIECE, time(50));
        assert!(!is_far(&word));
    }

    #[test]
    fn a_far_peer_is_tried_now_and_then() {
        let word = AtomicU32::new(u32::MAX);
        let tried = (0..1 << 10).filter(|&number| is_ring_faster(&word, number));
        assert_eq!(tried.count(), (1 << 10) / PROBED_EVERY as usize);
    }

    #[test]
    fn the_first_transfers_are_timed_and_some_later_ones() {
        let mut timing = Timing::default();
        let timed: Vec<bool> = (0..80).map(|_| timing.next()).collect();
        assert!(timed[..FIRST_TIMED as usize].iter().all(|&one| one));
        assert_eq!(
            timed[FIRST_TIMED as usize..]
                .iter()
                .filter(|&&one| one)
                .count(),
            9
        );
    }
}
