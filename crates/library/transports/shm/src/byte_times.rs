//! What a byte takes on the ways by which long messages go: through a ring, or copied from process to process, by the receiver
//! alone or with the sender's help.
//!
//! Through a ring a byte is copied twice, otherwise once, but by the kernel, which has to find the other process's pages first. Which is faster
//! depends on the kernel, on the processor and on whether the two cores share a cache. No machine tells that for certain, least of all a
//! virtual one, and it changes when threads move. So each process times, now and then, what it does and says in words of its
//! base, for each process of the host, what it has found ([`Base::byte_times`](crate::base::Base::byte_times)). The sender of a message
//! compares.
//!
//! It also depends on the traffic, so messages are of [classes](Class), and each has times of its own. In a ring that its receiver answers in, the lines that are
//! written are those that this core has just read. Where nothing comes back they are the other's, which takes some cores ten times as long. And what fits in
//! caches behaves unlike what does not.
//! There they are written past the caches, if that is found to take less ([`crate::streaming`]).
//! - Of a single message the *whole* counts, from when it is taken up until it is there, and of one that no ring holds: its first piece does not tell
//!   what the later ones take.
//! - In a window of several both sides are busy all the time: what counts is what each takes for a *piece*. Either way the two share the work of
//!   a message, so it is sums that are compared: of filling and draining, a third more for the rings that have to be waited for, and of copying.
//! - Where processes share cores, pieces count for single messages that a ring holds, too: how long one takes as a whole tells when its sides were given a
//!   core. Nor is anything added for waiting, as others have the core meanwhile.
//!
//! Where the kernel copies the sender helps, unless pieces take it so much longer
//! than the receiver that the latter must have touched that memory since: then it will again, and has to get each line back.
//!
//! A time may be too long, if the thread lost its core meanwhile, but never too short: a shorter one is believed at
//! once, a longer one by and by. What goes through memory that is touched for the first time is not timed. Only the choice of a faster way depends on times.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use weft_sync::atomic::{AtomicU64, Ordering};

use crate::bulk::RING_BYTES;
use crate::cma::{self, Way};

/// Pieces from this length on are timed: looking at the clock takes as long as some hundred bytes.
pub const TIMED_BYTES: usize = 4 << 10;
/// Each of so many first transfers is timed, and then one of so many.
const FIRST_TIMED: u32 = 8;
const TIMED_EVERY: u32 = 4;
/// The first messages of a class to a peer are copied. From this one on they go through a ring until it is known what that takes: by lengths if its memory is
/// yet to be made, else from the first of these on.
const RING_FROM: [u32; 3] = [3, 5, 9];
/// The next so many go through a ring, whatever the first of them takes: that one has pages to map, and its thread may lose its core.
const RINGS_FIRST: u32 = 6;
/// Of every so many later messages a few go the way that takes longer. Where it takes several times as long they are a few of more, so that the tries cost little.
const TRIED_EVERY: u32 = 256;
/// Tries come so many in a row: a ring that was not used meanwhile has lost its memory, and the first two messages through new memory are not timed.
const TRIED_IN_A_ROW: u32 = 3;
/// Where messages are written past the caches, so many of every [`TRIED_EVERY`] are written by plain stores instead; one in four of these is timed.
const PLAIN_IN_A_ROW: u32 = 8;
/// A sender helps that takes no more than this many tenths of what the receiver does.
const HELPS_UP_TO: u32 = 25;
/// One that takes longer helps nevertheless with the first few of so many messages: with a few in a row, as only the first has to get
/// lines that the receiver has had, unless it touches them each time.
const HELPED_EVERY: u32 = 256;
const HELPED_FIRST: u32 = 8;

/// A time rises by no more than this part of it at once: one that was interrupted would have the other way be taken until this one is tried again. Of
/// long messages few are enough.
const RISE: [u32; 3] = [4, 1, 1];

/// A byte that takes longer than so many picoseconds to be written by plain stores is better streamed: the reader's way to memory costs up to 40.
pub const SLOW_PS: u32 = 160;

/// Messages of more bytes are long.
pub const LONG_BYTES: usize = 256 << 10;

/// The kernel is timed with copies of so many bytes, so many times.
const OWN_BYTES: usize = 16 << 10;
const OWN_COPIES: usize = 8;

/// Bits of a word for each time, and picoseconds a byte in a unit of it; 0 is none.
const BITS: u32 = 9;
const MASK: u64 = (1 << BITS) - 1;
const UNIT_PS: u32 = 4;
const LONGEST_PS: u32 = MASK as u32 * UNIT_PS;

/// Of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Medium,
    Long,
    /// Longer than a ring, parts of which are written to again for the same message.
    BeyondRing,
}

impl Length {
    pub fn of(bytes: usize) -> Length {
        if bytes <= LONG_BYTES {
            Length::Medium
        } else if bytes <= RING_BYTES {
            Length::Long
        } else {
            Length::BeyondRing
        }
    }
}

/// How a message stands among others to and from its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Single ones go to and fro.
    Answered,
    /// Single ones go one way.
    OneWay,
    /// Several are under way.
    Window,
}

/// What messages have in common whose times are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub length: Length,
    pub pattern: Pattern,
}

impl Class {
    pub const COUNT: usize = 9;
    /// That of what was never sent.
    pub const FIRST: Class = Class {
        length: Length::Medium,
        pattern: Pattern::Answered,
    };

    pub fn index(self) -> usize {
        3 * self.length as usize + self.pattern as usize
    }

    /// The class of that index, which may be anything.
    pub fn of_index(index: usize) -> Option<Class> {
        let length = match index / 3 {
            0 => Length::Medium,
            1 => Length::Long,
            2 => Length::BeyondRing,
            _ => return None,
        };
        let pattern = match index % 3 {
            0 => Pattern::Answered,
            1 => Pattern::OneWay,
            _ => Pattern::Window,
        };
        Some(Class { length, pattern })
    }
}

/// What a process has found of another, by class.
pub type Words = [AtomicU64; Class::COUNT];

/// What is timed. Its place here is that of its bits in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Filling a ring, for that process: a piece.
    Fill,
    /// Draining a ring, that of that process: a piece.
    Drain,
    /// Copying out of that process's memory: a piece.
    Copy,
    /// Copying into that process's memory: a piece.
    Help,
    /// A message through a ring.
    WholeRing,
    /// A message copied from process to process.
    WholeCopy,
    /// Filling a ring past the caches, for that process: a piece.
    Stream,
}

const _: () = assert!(BITS * (Timed::Stream as u32 + 1) <= u64::BITS);

/// Which transfers to a peer are timed.
#[derive(Default)]
pub struct Timing {
    transfers: [u32; Class::COUNT],
}

impl Timing {
    /// Whether the next transfer is to be timed: a long one always.
    pub fn next(&mut self, class: Class) -> bool {
        let transfers = &mut self.transfers[class.index()];
        *transfers = transfers.wrapping_add(1);
        class.length != Length::Medium
            || *transfers <= FIRST_TIMED
            || transfers.is_multiple_of(TIMED_EVERY)
    }
}

/// What a byte took of so many, as far as it is told apart.
pub fn picoseconds(bytes: usize, time: Duration) -> u32 {
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

fn read(word: u64, timed: Timed) -> Option<u32> {
    let found = (word >> (BITS * timed as u32) & MASK) as u32;
    (found > 0).then_some(found * UNIT_PS)
}

#[cfg(test)]
pub fn is_known(words: &Words, timed: Timed, class: Class) -> bool {
    read(words[class.index()].load(Ordering::Relaxed), timed).is_some()
}

/// Notes that so many bytes of a message of that class took so long. The words are the own process's, whose lanes may write at the same time: then one of
/// their times is lost.
pub fn note(words: &Words, timed: Timed, class: Class, bytes: usize, time: Duration) {
    let word = &words[class.index()];
    let found = picoseconds(bytes, time);
    let all = word.load(Ordering::Relaxed);
    let believed = match read(all, timed) {
        Some(known) if found > known => {
            let rise = RISE[class.length as usize];
            known + (found - known).min(known / rise + UNIT_PS)
        }
        _ => found,
    };
    let shift = BITS * timed as u32;
    let others = all & !(MASK << shift);
    word.store(
        others | u64::from(believed / UNIT_PS) << shift,
        Ordering::Relaxed,
    );
}

/// The messages of a class that find out what rings take.
fn first_through_rings(class: Class) -> std::ops::Range<u32> {
    let from = RING_FROM[class.length as usize];
    from..from + RINGS_FIRST
}

/// What a byte takes through a ring, and copied, by the sender's words of the receiver and the receiver's of the sender.
fn ways([sender, receiver]: [&Words; 2], class: Class, shares_cores: bool) -> [Option<u32>; 2] {
    let sender = sender[class.index()].load(Ordering::Relaxed);
    let receiver = receiver[class.index()].load(Ordering::Relaxed);
    let by_pieces = shares_cores || class.pattern == Pattern::Window;
    if !by_pieces || class.length == Length::BeyondRing {
        return [Timed::WholeRing, Timed::WholeCopy].map(|timed| read(receiver, timed));
    }
    let fills = [Timed::Fill, Timed::Stream].map(|timed| read(sender, timed));
    let fill = fills.into_iter().flatten().min();
    let ring = fill.zip(read(receiver, Timed::Drain));
    let ring = ring.map(|(fill, drain)| match shares_cores {
        true => fill + drain,
        false => (fill + drain) * 4 / 3,
    });
    [ring, read(receiver, Timed::Copy)]
}

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Through a ring, else from process to process.
    pub is_ring: bool,
    /// It is the one that takes longer, to find out whether it still does.
    pub is_tried: bool,
}

impl Chosen {
    /// The way that is expected to take less.
    pub fn expected(is_ring: bool) -> Chosen {
        Chosen {
            is_ring,
            is_tried: false,
        }
    }
}

/// Whether message `number` of its class goes better through a ring than from process to process, by the sender's words of the receiver, and by the
/// receiver's of the sender: untrusted memory, in which any value will do. Asks, if need be, whether there is a ring that has memory for it.
pub fn choose(
    words: [&Words; 2],
    (class, number): (Class, u32),
    shares_cores: bool,
    is_ring_made: impl FnOnce() -> bool,
) -> Chosen {
    let [sender, _] = words;
    let first = first_through_rings(class);
    let is_ring = match ways(words, class, shares_cores) {
        [Some(_), Some(_)] if is_stream_unknown(sender, class) => true,
        [Some(_), Some(_)] if first.contains(&number) => true,
        [Some(ring), Some(copy)] => {
            let ratio = ring.max(copy) / ring.min(copy);
            let every = TRIED_EVERY * (ratio * ratio).next_power_of_two();
            let is_tried = number % every < TRIED_IN_A_ROW;
            return Chosen {
                is_ring: (ring <= copy) != is_tried,
                is_tried,
            };
        }
        [None, Some(_)] if number >= RING_FROM[0] && is_ring_made() => true,
        // A ring costs its memory first. Where it is not much better for what it holds, it is much worse for what it does not.
        [None, Some(_)] => {
            let within = Class {
                length: Length::Long,
                ..class
            };
            let is_much_better = match ways(words, within, shares_cores) {
                [Some(ring), Some(copy)] => 5 * ring <= 4 * copy,
                _ => false,
            };
            number >= first.start && (class.length != Length::BeyondRing || is_much_better)
        }
        // What receivers do not copy, because of their layout, say, goes through rings.
        [_, None] => number > 1,
    };
    Chosen::expected(is_ring)
}

/// What a byte takes to be filled into a ring by plain stores and past the caches, where nothing comes back through it: then its lines are the other's.
fn fills(sender: &Words, class: Class) -> Option<[Option<u32>; 2]> {
    let word = sender[class.index()].load(Ordering::Relaxed);
    let fills = [Timed::Fill, Timed::Stream].map(|timed| read(word, timed));
    (class.pattern != Pattern::Answered).then_some(fills)
}

fn is_stream_unknown(sender: &Words, class: Class) -> bool {
    matches!(fills(sender, class), Some([Some(plain), None]) if plain > SLOW_PS)
}

/// Whether message `number` of its class, which goes through a ring, is better written past the caches. The first are not: one time may be that of a thread
/// that lost its core.
pub fn is_stream_chosen(sender: &Words, class: Class, number: u32) -> bool {
    let is_first = number < first_through_rings(class).end;
    match fills(sender, class) {
        Some([Some(plain), _]) if plain > SLOW_PS => {
            !is_first && number % TRIED_EVERY >= PLAIN_IN_A_ROW
        }
        _ => false,
    }
}

/// Whether the sender of message `number` is to help the receiver to copy it. Both sides ask, and may find otherwise meanwhile.
pub fn is_help_chosen(sender: &Words, receiver: &Words, class: Class, number: u32) -> bool {
    let help = read(sender[class.index()].load(Ordering::Relaxed), Timed::Help);
    let copy = read(receiver[class.index()].load(Ordering::Relaxed), Timed::Copy);
    let helps = help
        .zip(copy)
        .is_none_or(|(help, copy)| 10 * help <= HELPS_UP_TO * copy);
    helps || number % HELPED_EVERY < HELPED_FIRST
}

#[cfg(test)]
mod tests {
    use super::*;
    use Length::{BeyondRing, Long, Medium};
    use Pattern::{Answered, OneWay, Window};

    const PIECE: usize = 32 << 10;
    const SINGLE: Class = Class::FIRST;

    fn class(length: Length, pattern: Pattern) -> Class {
        Class { length, pattern }
    }

    /// A piece at so many picoseconds a byte.
    fn time(picoseconds: u64) -> Duration {
        Duration::from_nanos(PIECE as u64 * picoseconds / 1000)
    }

    fn words() -> Words {
        Default::default()
    }

    /// A message behind those that find out what each way takes.
    const LATER: u32 = 100;

    fn is_ring_chosen(
        words: [&Words; 2],
        message: (Class, u32),
        shares_cores: bool,
        is_ring_made: impl FnOnce() -> bool,
    ) -> bool {
        choose(words, message, shares_cores, is_ring_made).is_ring
    }

    /// A sender's words and a receiver's with these times of pieces.
    fn pieces(class: Class, fill: u64, drain: u64, copy: u64) -> [Words; 2] {
        let words = [words(), words()];
        note(&words[0], Timed::Fill, class, PIECE, time(fill));
        note(&words[1], Timed::Drain, class, PIECE, time(drain));
        note(&words[1], Timed::Copy, class, PIECE, time(copy));
        words
    }

    /// A receiver's words with these times of whole messages.
    fn wholes(class: Class, ring: u64, copy: u64) -> Words {
        let receiver = words();
        note(&receiver, Timed::WholeRing, class, PIECE, time(ring));
        note(&receiver, Timed::WholeCopy, class, PIECE, time(copy));
        receiver
    }

    #[test]
    fn in_a_window_what_takes_less_in_all_is_chosen() {
        for length in [Medium, Long] {
            let class = class(length, Window);
            for (fill, drain, copy, ring) in [
                (20, 20, 73, true),
                (30, 30, 73, false),
                (60, 60, 52, false),
                (40, 300, 150, false),
                (1, 1, 5000, true),
                (150, 5000, 1, false),
            ] {
                let [sender, receiver] = pieces(class, fill, drain, copy);
                let chosen = is_ring_chosen([&sender, &receiver], (class, LATER), false, || false);
                assert_eq!(chosen, ring, "{fill} {drain} {copy}");
            }
        }
    }

    #[test]
    fn of_single_messages_the_whole_counts() {
        for class in [
            class(Medium, Answered),
            class(Long, OneWay),
            class(BeyondRing, Window),
        ] {
            for (ring, copy) in [(50, 150), (150, 50), (1, 5000), (5000, 1)] {
                let receiver = wholes(class, ring, copy);
                let chosen = is_ring_chosen([&words(), &receiver], (class, LATER), false, || false);
                assert_eq!(chosen, ring < copy);
            }
        }
    }

    #[test]
    fn where_cores_are_shared_pieces_count_for_all_that_a_ring_holds() {
        for (fill, drain, copy, ring) in
            [(20, 20, 73, true), (35, 35, 73, true), (60, 60, 52, false)]
        {
            for class in [class(Medium, Answered), class(Long, OneWay)] {
                let [sender, receiver] = pieces(class, fill, drain, copy);
                // Whole messages took what the scheduler made of them: the opposite.
                note(
                    &receiver,
                    Timed::WholeRing,
                    class,
                    PIECE,
                    time(if ring { 900 } else { 1 }),
                );
                note(&receiver, Timed::WholeCopy, class, PIECE, time(100));
                let chosen = |shares_cores| {
                    is_ring_chosen([&sender, &receiver], (class, LATER), shares_cores, || false)
                };
                assert_eq!([chosen(true), chosen(false)], [ring, !ring]);
            }
            let class = class(BeyondRing, OneWay);
            let receiver = wholes(class, 1, 100);
            assert!(is_ring_chosen(
                [&words(), &receiver],
                (class, 3),
                true,
                || false
            ));
        }
    }

    #[test]
    fn classes_have_times_of_their_own() {
        let receiver = words();
        let all = (0..Class::COUNT).map(|index| Class::of_index(index).unwrap());
        for (index, class) in all.clone().enumerate() {
            assert_eq!(class.index(), index);
            let time = time(41 + 4 * index as u64);
            note(&receiver, Timed::Copy, class, PIECE, time);
        }
        for (index, class) in all.enumerate() {
            let word = receiver[class.index()].load(Ordering::Relaxed);
            assert_eq!(read(word, Timed::Copy), Some(40 + 4 * index as u32));
        }
        assert_eq!(Class::of_index(Class::COUNT), None);
    }

    #[test]
    fn the_first_are_copied_and_then_a_ring_is_tried_until_it_is_known() {
        for (length, from) in [(Medium, 3), (Long, 5)] {
            let class = class(length, Answered);
            let [sender, receiver] = [words(), words()];
            let chosen =
                |number| is_ring_chosen([&sender, &receiver], (class, number), false, || false);
            assert!(!chosen(1));
            // Nothing was copied, or it was not timed.
            assert!(chosen(2));
            note(&receiver, Timed::WholeCopy, class, PIECE, time(50));
            assert!((2..40).all(|number| chosen(number) == (number >= from)));
            note(&receiver, Timed::WholeRing, class, PIECE, time(60));
            assert!((from..40).all(|number| chosen(number) == (number < from + RINGS_FIRST)));
        }
    }

    #[test]
    fn a_ring_that_has_memory_is_tried_from_the_third_on() {
        for length in [Medium, Long, BeyondRing] {
            let class = class(length, Answered);
            let [sender, receiver] = [words(), words()];
            note(&receiver, Timed::WholeCopy, class, PIECE, time(50));
            let chosen =
                |number| is_ring_chosen([&sender, &receiver], (class, number), false, || true);
            assert!((1..40).all(|number| chosen(number) == (number >= 3)));
        }
    }

    #[test]
    fn what_no_ring_holds_goes_through_one_where_that_is_much_better_for_what_it_holds() {
        for (ring, tried) in [(50, false), (42, false), (38, true)] {
            let receiver = wholes(class(Long, OneWay), ring, 50);
            let beyond = class(BeyondRing, OneWay);
            note(&receiver, Timed::WholeCopy, beyond, PIECE, time(50));
            assert!(!is_ring_chosen(
                [&words(), &receiver],
                (beyond, 8),
                false,
                || false
            ));
            let chosen = is_ring_chosen([&words(), &receiver], (beyond, 9), false, || false);
            assert_eq!(chosen, tried);
        }
    }

    #[test]
    fn the_slower_way_is_tried_now_and_then_and_seldom_if_it_is_much_slower() {
        for (ring, copy, every) in [
            (50, 70, 256),
            (70, 50, 256),
            (50, 120, 1024),
            (400, 50, 16384),
            (50, 400, 16384),
        ] {
            let receiver = wholes(SINGLE, ring, copy);
            for number in LATER..20_000 {
                let chosen = choose([&words(), &receiver], (SINGLE, number), false, || false);
                assert_eq!(chosen.is_tried, number % every < TRIED_IN_A_ROW);
                assert_eq!(chosen.is_ring, (ring < copy) != chosen.is_tried);
            }
        }
    }

    #[test]
    fn a_sender_that_takes_longer_helps_now_and_then() {
        let [sender, receiver] = [words(), words()];
        note(&receiver, Timed::Copy, SINGLE, PIECE, time(50));
        assert!(is_help_chosen(&sender, &receiver, SINGLE, 9));
        for (help, always) in [(50, true), (115, true), (140, false), (400, false)] {
            let sender = words();
            note(&sender, Timed::Help, SINGLE, PIECE, time(help));
            let helps = |number: &u32| is_help_chosen(&sender, &receiver, SINGLE, *number);
            let helped = (0..1024).filter(helps).count();
            assert_eq!(helped, if always { 1024 } else { 32 }, "{help}");
        }
    }

    #[test]
    fn one_piece_that_took_long_is_not_believed_and_a_short_one_is() {
        let words = words();
        let known = || read(words[SINGLE.index()].load(Ordering::Relaxed), Timed::Drain).unwrap();
        let note = |picoseconds| note(&words, Timed::Drain, SINGLE, PIECE, time(picoseconds));
        note(60);
        let first = known();
        note(500);
        assert!((first + 1..first + first / 3).contains(&known()));
        (0..30).for_each(|_| note(500));
        assert!(known() > 450);
        note(61);
        assert!(known() <= first + UNIT_PS);
    }

    #[test]
    fn times_stand_beside_each_other() {
        let receiver = wholes(SINGLE, 200_000, 41);
        note(&receiver, Timed::Copy, SINGLE, PIECE, Duration::ZERO);
        let word = receiver[SINGLE.index()].load(Ordering::Relaxed);
        let all = [Timed::WholeRing, Timed::WholeCopy, Timed::Copy, Timed::Help];
        let known = all.map(|timed| read(word, timed));
        assert_eq!(known, [Some(LONGEST_PS), Some(40), Some(UNIT_PS), None]);
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
    fn the_first_transfers_are_timed_and_some_later_ones_and_all_long_ones() {
        let mut timing = Timing::default();
        let timed: Vec<bool> = (0..80).map(|_| timing.next(SINGLE)).collect();
        let (first, later) = timed.split_at(FIRST_TIMED as usize);
        assert!(first.iter().all(|&one| one));
        assert_eq!(later.iter().filter(|&&one| one).count(), 18);
        assert!((0..80).all(|_| timing.next(class(Long, OneWay))));
    }

    #[test]
    fn a_ring_whose_lines_are_dear_is_streamed_into_before_it_is_given_up() {
        let class = class(Medium, OneWay);
        let receiver = wholes(class, 450, 150);
        let sender = words();
        assert!(!is_stream_chosen(&sender, class, LATER));
        note(&sender, Timed::Fill, class, PIECE, time(60));
        assert!(!is_stream_chosen(&sender, class, LATER));
        assert!(!is_ring_chosen(
            [&sender, &receiver],
            (class, LATER),
            false,
            || false
        ));
        let sender = words();
        note(&sender, Timed::Fill, class, PIECE, time(400));
        assert!(is_stream_chosen(&sender, class, LATER));
        for plain in [5, TRIED_EVERY, TRIED_EVERY + PLAIN_IN_A_ROW - 1] {
            assert!(!is_stream_chosen(&sender, class, plain));
        }
        assert!(is_ring_chosen(
            [&sender, &receiver],
            (class, LATER),
            false,
            || false
        ));
        note(&sender, Timed::Stream, class, PIECE, time(40));
        assert!(is_stream_chosen(&sender, class, LATER));
        assert!(!is_ring_chosen(
            [&sender, &receiver],
            (class, LATER),
            false,
            || false
        ));
        let receiver = wholes(class, 110, 150);
        assert!(is_ring_chosen(
            [&sender, &receiver],
            (class, LATER),
            false,
            || false
        ));
        // What is answered is written to where this core has just read.
        note(&sender, Timed::Fill, SINGLE, PIECE, time(400));
        assert!(!is_stream_chosen(&sender, SINGLE, LATER));
    }
}
