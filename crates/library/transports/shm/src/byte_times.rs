//! What a byte takes on the ways by which long messages go: through a ring, or copied by the receiver from process to
//! process.
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
//! - In a window of several both sides are busy all the time: what counts is what each takes for a *piece*. One side fills while the other drains, so a message takes
//!   as long as the slower of them, and a third more for the rings that have to be waited for.
//! - Where both sides send at the same time, pieces count for single messages, too: each core fills one ring and then drains the other, or copies once, and how
//!   long a message takes as a whole tells what the cores do in between. They wait for nothing, so nothing is added.
//! - Where processes share cores, the same holds for messages that a ring holds: how long one takes as a whole tells when its sides were given a
//!   core, and others have the core while they wait. For one that is copied both sides wait.
//!
//! A time may be too long, if the thread lost its core meanwhile, but never too short: a shorter one is believed at
//! once, a longer one by and by. What goes through memory that is touched for the first time is not timed, nor is the first message after one that went the other way: it finds
//! the caches as that has left them. Only the choice of a faster way depends on times.
//!
//! The first messages of a class are copied, then some go through rings, then some are copied again: what the first copies took may be that of buffers that no cache had. From there on
//! the faster way is taken, and the other one is tried now and then.

use std::ops::Range;
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
/// The first messages of a class to a peer are copied. From this one on, by lengths, they go through a ring: long ones are worth its memory if more of them come.
const RING_FROM: [u32; 3] = [3, 9, 9];
/// The next so many do, as the first has pages to map and a thread may lose its core in any; fewer if the ring takes several times as long.
const RINGS_FIRST: u32 = 6;
const RINGS_AT_LEAST: u32 = 4;
/// Then so many are copied again, unless that takes several times as long.
const COPIES_AGAIN: u32 = 3;
const SEVERAL_TIMES: u32 = 2;
/// From this one on a message of a class of which no copy was timed goes through a ring: receivers do not copy it, because of its layout, say.
const UNCOPIED_FROM: u32 = 3;
/// Where processes share cores a copied message, by lengths, counts so many quarters: its sender goes on only when its receiver has had a core, and told it
/// so when it has one again, for some microseconds in all. What a ring holds lets go of its sender at once.
const COPY_IN_TURNS: [u32; 3] = [8, 5, 4];
/// Of every so many later messages a few go the way that takes longer. Where it takes several times as long they are a few of more, so that the tries cost little.
const TRIED_EVERY: u32 = 256;
/// Tries come so many in a row: the first is not timed, nor are the first two through a ring that was not used meanwhile and has lost its memory.
const TRIED_IN_A_ROW: u32 = 3;
/// Where messages are written past the caches, so many of every [`TRIED_EVERY`] are written by plain stores instead; one in four of these is timed.
const PLAIN_IN_A_ROW: u32 = 8;

/// A time rises by no more than this part of it at once: one that was interrupted would have the other way be taken until this one is tried again.
const RISE: u32 = 4;

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

/// How the cores of a message's two sides work at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// Both at the same time, if it goes through a ring.
    Together,
    /// Both sides send: each core does one side's part of a message and then of another.
    Apart,
    /// Processes outnumber cores, so that the sides may have one in turns.
    Shared,
}

/// What is timed. Its place here is that of its bits in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Filling a ring, for that process: a piece.
    Fill,
    /// Draining a ring, that of that process: a piece.
    Drain,
    /// Copying out of that process's memory: a piece.
    Copy,
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
        Some(known) if found > known => known + (found - known).min(known / RISE + UNIT_PS),
        _ => found,
    };
    let shift = BITS * timed as u32;
    let others = all & !(MASK << shift);
    word.store(
        others | u64::from(believed / UNIT_PS) << shift,
        Ordering::Relaxed,
    );
}

/// The messages of a class that find out what rings take, and those that find out what copies take then.
fn first_through_rings(class: Class) -> Range<u32> {
    let from = RING_FROM[class.length as usize];
    from..from + RINGS_FIRST
}

fn first_copied_again(class: Class) -> Range<u32> {
    let from = first_through_rings(class).end;
    from..from + COPIES_AGAIN
}

/// How long filling a ring takes for a byte: by plain stores, and by stores past the caches.
fn fills_of(word: u64) -> [Option<u32>; 2] {
    [Timed::Fill, Timed::Stream].map(|timed| read(word, timed))
}

/// What a byte takes through a ring, and copied, by the sender's words of the receiver and the receiver's of the sender.
fn ways([sender, receiver]: [&Words; 2], class: Class, cores: Cores) -> [Option<u32>; 2] {
    let sender = sender[class.index()].load(Ordering::Relaxed);
    let receiver = receiver[class.index()].load(Ordering::Relaxed);
    let is_window = class.pattern == Pattern::Window;
    let counts_whole = match cores {
        Cores::Apart => false,
        Cores::Shared => class.length == Length::BeyondRing,
        Cores::Together => !is_window || class.length == Length::BeyondRing,
    };
    if counts_whole {
        return [Timed::WholeRing, Timed::WholeCopy].map(|timed| read(receiver, timed));
    }
    let fill = fills_of(sender).into_iter().flatten().min();
    let ring = fill.zip(read(receiver, Timed::Drain));
    let ring = ring.map(|(fill, drain)| match cores {
        Cores::Together => fill.max(drain) * 4 / 3,
        Cores::Apart if is_window => (fill + drain) * 4 / 3,
        Cores::Apart | Cores::Shared => fill + drain,
    });
    [ring, read(receiver, Timed::Copy)]
}

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Through a ring, else from process to process.
    pub is_ring: bool,
    /// It is taken to find out how long it takes.
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
/// receiver's of the sender: untrusted memory, in which any value will do.
pub fn choose(words: [&Words; 2], (class, number): (Class, u32), cores: Cores) -> Chosen {
    let is_ring = match ways(words, class, cores) {
        [Some(ring), Some(copy)] => {
            let copy = match cores {
                Cores::Shared => copy * COPY_IN_TURNS[class.length as usize] / 4,
                _ => copy,
            };
            return choose_by_times([ring, copy], (class, number), words[0]);
        }
        // A ring costs its memory first. Where it is not much better for what it holds, it is much worse for what it does not.
        [None, Some(_)] => {
            let within = Class {
                length: Length::Long,
                ..class
            };
            let is_much_better = match ways(words, within, cores) {
                [Some(ring), Some(copy)] => 5 * ring <= 4 * copy,
                _ => false,
            };
            let is_worth_a_ring = class.length != Length::BeyondRing || is_much_better;
            is_worth_a_ring && number >= first_through_rings(class).start
        }
        [_, None] => number >= UNCOPIED_FROM,
    };
    Chosen::expected(is_ring)
}

/// The same, where a time is known of each.
fn choose_by_times(
    [ring, copy]: [u32; 2],
    (class, number): (Class, u32),
    sender: &Words,
) -> Chosen {
    let first = first_through_rings(class);
    let finds_out_rings = first.contains(&number)
        && (number < first.start + RINGS_AT_LEAST || ring < SEVERAL_TIMES * copy);
    if finds_out_rings || is_stream_unknown(sender, class) {
        return Chosen::expected(true);
    }
    if first_copied_again(class).contains(&number) && copy < SEVERAL_TIMES * ring {
        return Chosen {
            is_ring: false,
            is_tried: true,
        };
    }
    let (slower, faster) = (ring.max(copy), ring.min(copy));
    let every = TRIED_EVERY * (slower * slower / (faster * faster)).next_power_of_two();
    let is_tried = number % every < TRIED_IN_A_ROW;
    Chosen {
        is_ring: (ring <= copy) != is_tried,
        is_tried,
    }
}

/// [`fills_of`] a class in which nothing comes back through the ring: then its lines are the other's.
fn fills(sender: &Words, class: Class) -> Option<[Option<u32>; 2]> {
    let word = sender[class.index()].load(Ordering::Relaxed);
    let fills = fills_of(word);
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

#[cfg(test)]
mod tests;
