//! Windows of several processes, all of which this one plays, against memory written out by hand.

mod accumulate;
mod short_access;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use weft_contract::Cards;
use weft_datatype::{Datatype, Op, Predefined};
use weft_memory::Memory;
use weft_shm::{Options, Shm};
use weft_transport::{Fabric, Peer};

use crate::runs::RUNS;
use crate::{
    Backing, Fault, LockKind, Member, Operation, Own, Processes, Ranks, Target, Update, Window,
};

fn spin(met: &mut dyn FnMut() -> bool) {
    while !met() {
        thread::yield_now();
    }
}

/// One process of a world, its part of the window, and that part's memory if it is its own.
struct Side {
    shm: Shm,
    window: Window,
    part: Vec<u64>,
}

const MORE: u32 = 6;

/// A window of `words` words on each of `size` processes, of their own memory or of the library's.
fn window(size: u32, words: usize, user_memory: bool, deny_copies: bool) -> Vec<Side> {
    window_among(None, size, words, user_memory, deny_copies)
}

/// The same, of processes that have these ranks among [`MORE`].
fn window_among(
    among: Option<&[u32]>,
    size: u32,
    words: usize,
    user_memory: bool,
    deny_copies: bool,
) -> Vec<Side> {
    let cards = Arc::new(Cards::default());
    let options = Options {
        deny_copies,
        ..Options::default()
    };
    let ranks: Vec<Peer> = (0..size).collect();
    let shms: Vec<Shm> = (0..size)
        .map(|rank| Shm::with_options(rank, &ranks, 1, cards.clone(), options).unwrap())
        .collect();
    for (rank, shm) in shms.iter().enumerate() {
        cards.put(rank as Peer, shm.card());
    }
    let mut parts: Vec<Vec<u64>> = (0..size).map(|_| vec![0; words]).collect();
    let owns: Vec<Own> = shms
        .iter()
        .map(|shm| {
            let mut own = Own::new(shm, size, user_memory, 4096).unwrap();
            if !user_memory {
                own.expose(words * 8).unwrap();
            }
            own
        })
        .collect();
    let members: Vec<Member> = owns
        .iter()
        .zip(&mut parts)
        .map(|(own, part)| Member {
            control: own.control(),
            backing: match user_memory {
                true => Backing::User(part.as_mut_ptr().expose_provenance() as u64),
                false => Backing::Piece(own.memory()),
            },
            bytes: words as u64 * 8,
            unit: 8,
        })
        .collect();
    let peers: Vec<Peer> = (0..size).collect();
    let join = |(rank, own): (u32, Own)| {
        let processes = Processes {
            me: rank,
            peers: peers.clone(),
            ranks: among.map(|of| Ranks {
                of: of.into(),
                count: MORE,
            }),
        };
        own.join(processes, members.clone(), None, spin).unwrap()
    };
    let windows = (0..).zip(owns).map(join);
    shms.iter()
        .zip(windows)
        .zip(parts)
        .map(|((shm, window), part)| Side {
            shm: shm.clone(),
            window,
            part,
        })
        .collect()
}

fn words(values: &mut [u64]) -> Memory {
    Memory::contiguous(values.as_mut_ptr().cast(), size_of_val(values))
}

impl Side {
    fn target<'a>(&self, rank: u32, word: i64, datatype: &'a Datatype, count: usize) -> Target<'a> {
        Target {
            rank,
            offset: 8 * word,
            datatype,
            count,
        }
    }

    fn read(&self, rank: u32, word: i64, count: usize) -> Result<Vec<u64>, Fault> {
        let mut values = vec![0; count];
        let datatype = Datatype::from(Predefined::Int64);
        let target = self.target(rank, word, &datatype, count);
        // SAFETY: the vector is as long as the target.
        unsafe { self.window.get(&target, &words(&mut values)) }.map(|()| values)
    }

    fn add(&self, rank: u32, word: i64, by: u64) -> u64 {
        let datatype = Datatype::from(Predefined::Uint64);
        let operation = Operation::new(Op::Sum, Predefined::Uint64).unwrap();
        let target = self.target(rank, word, &datatype, 1);
        let mut old = 0u64;
        let result = (&raw mut old).cast();
        // SAFETY: both are one element.
        unsafe {
            self.window
                .update(&target, operation, (&raw const by).cast(), result)
        }
        .unwrap();
        old
    }
}

/// Ends the thread that serves, also when a test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `act` while another thread answers the active messages of all sides.
fn served(sides: &[Side], act: impl FnOnce()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for side in sides {
                    side.shm.serve();
                }
                thread::yield_now();
            }
        });
        let _end = End(&over);
        act();
    });
}

/// By loads and stores, by the kernel's copies, by active messages.
fn ways() -> [Vec<Side>; 3] {
    [(false, false), (true, false), (true, true)]
        .map(|(user_memory, deny)| window(2, 40_000, user_memory, deny))
}

#[test]
fn what_is_put_comes_back() {
    for sides in ways() {
        served(&sides, || {
            let mut out: Vec<u64> = (0..30_000).map(|word| word * 7 + 1).collect();
            let datatype = Datatype::from(Predefined::Int64);
            let target = sides[0].target(1, 5, &datatype, out.len());
            // SAFETY: the vector is as long as the target.
            unsafe { sides[0].window.put(&target, &words(&mut out)) }.unwrap();
            for reader in &sides {
                let back = reader.read(1, 0, 40_000).unwrap();
                assert!(
                    back[..5]
                        .iter()
                        .chain(&back[30_005..])
                        .all(|&word| word == 0)
                );
                assert_eq!(back[5..30_005], out);
            }
            assert!(
                sides[0]
                    .read(0, 0, 40_000)
                    .unwrap()
                    .iter()
                    .all(|&word| word == 0)
            );
        });
    }
}

#[test]
fn strided_targets_leave_the_gaps() {
    for sides in ways() {
        served(&sides, || {
            let datatype = Datatype::vector(100, 2, 5, &Predefined::Int64.into()).unwrap();
            let mut out: Vec<u64> = (1..=200).collect();
            let target = sides[0].target(1, 3, &datatype, 1);
            // SAFETY: the vector is as long as the target's data.
            unsafe { sides[0].window.put(&target, &words(&mut out)) }.unwrap();
            let mut wanted = vec![0; 600];
            for (place, &value) in out.iter().enumerate() {
                wanted[3 + place / 2 * 5 + place % 2] = value;
            }
            assert_eq!(sides[1].read(1, 0, 600).unwrap(), wanted);
            let mut back = vec![0; 200];
            // SAFETY: as above.
            unsafe { sides[0].window.get(&target, &words(&mut back)) }.unwrap();
            assert_eq!(back, out);
        });
    }
}

/// Many runs cost a few calls of the kernel, in whatever number they come, and only the bytes that are asked for.
#[test]
fn runs_go_many_at_a_time() {
    let sides = window(2, 2000, true, false);
    let link = sides[0].window.link(1).unwrap();
    for count in [0, 1, RUNS - 1, RUNS, RUNS + 1, 2 * RUNS, 5 * RUNS + 7] {
        let datatype = Datatype::vector(count, 1, 3, &Predefined::Int64.into()).unwrap();
        let target = sides[0].target(1, 2, &datatype, 1);
        for bytes in [8 * count, (8 * count).saturating_sub(5)] {
            let (mut calls, mut runs) = (0, Vec::new());
            let all = target.for_some_runs(link, bytes, usize::MAX, |some, packed| {
                assert_eq!(packed, 8 * runs.len());
                calls += 1;
                runs.extend_from_slice(some);
                Ok(())
            });
            all.unwrap();
            assert_eq!(calls, count.div_ceil(RUNS), "{count} runs");
            let begin = sides[1].part.as_ptr().addr() as u64 + 16;
            let found = runs.iter().map(|run| (run.address(), run.bytes()));
            let wanted = (0..count).map(|run| (begin + 24 * run as u64, (bytes - 8 * run).min(8)));
            assert!(found.eq(wanted), "{count} runs, {bytes} bytes");
        }
    }
}

#[test]
fn scattered_updates_reach_every_element_and_no_other() {
    const STEPS: u64 = 200;
    for sides in ways() {
        served(&sides, || {
            let datatype = Datatype::vector(STEPS as usize, 1, 7, &Predefined::Uint64.into());
            let datatype = datatype.unwrap();
            let operation = Operation::new(Op::Sum, Predefined::Uint64).unwrap();
            let target = sides[0].target(1, 0, &datatype, 1);
            let by: Vec<u64> = (1..=STEPS).collect();
            for _ in 0..2 {
                // SAFETY: the operand has as many elements as the target.
                unsafe {
                    let operand = by.as_ptr().cast();
                    let window = &sides[0].window;
                    window.update(&target, operation, operand, std::ptr::null_mut())
                }
                .unwrap();
            }
            let found = sides[1].read(1, 0, 7 * STEPS as usize).unwrap();
            for (place, &value) in found.iter().enumerate() {
                let wanted = if place % 7 == 0 { 2 * by[place / 7] } else { 0 };
                assert_eq!(value, wanted, "word {place}");
            }
        });
    }
}

/// Direct accesses are by rank, where the window's processes are some of more; all else is by number.
#[test]
fn processes_have_ranks_among_more() {
    let ranks = [1, 4];
    let sides = window_among(Some(&ranks), 2, 4, false, false);
    let long = Datatype::from(Predefined::Int64);
    for (number, rank) in (0..).zip(ranks) {
        let window = &sides[0].window;
        assert!(
            window.direct(rank as i32, 0, 8).is_none(),
            "before the way is known"
        );
        let target = Target {
            rank: number,
            offset: 8,
            datatype: &long,
            count: 1,
        };
        let mut value = [u64::from(rank)];
        // SAFETY: a word, and nobody else accesses the part.
        unsafe { window.put(&target, &words(&mut value)) }.unwrap();
        let mut found = [0];
        let direct = window.direct(rank as i32, 1, 8).unwrap();
        // SAFETY: as above.
        unsafe { direct.get(found.as_mut_ptr().cast(), 8) };
        assert_eq!(found, value);
    }
    for rank in [-1, 0, 2, 3, 5, 6] {
        assert!(sides[0].window.direct(rank, 0, 8).is_none(), "{rank}");
    }
    // The process finds its own memory as others see it.
    let target = Target {
        rank: sides[1].window.me(),
        offset: 8,
        datatype: &long,
        count: 1,
    };
    let own = sides[1].window.own_memory(&target).unwrap();
    let mut found = [0; 8];
    // SAFETY: a word of the window's.
    unsafe { own.read(0, &mut found) };
    assert_eq!(u64::from_ne_bytes(found), 4);
    let beyond = Target {
        offset: 32,
        ..target
    };
    assert!(matches!(
        sides[1].window.own_memory(&beyond),
        Err(Fault::Range)
    ));
}

#[test]
fn outside_is_refused() {
    for sides in ways() {
        served(&sides, || {
            for (word, count) in [(-1, 1), (40_000, 1), (39_999, 2), (i64::MAX / 8, 1)] {
                let read = sides[0].read(1, word, count);
                assert!(matches!(read, Err(Fault::Range)), "{count} words at {word}");
            }
            assert_eq!(sides[0].read(1, 40_000, 0).unwrap(), []);
        });
    }
}

#[test]
fn no_update_is_lost() {
    const STEPS: u64 = 500;
    for sides in ways() {
        served(&sides, || {
            thread::scope(|scope| {
                for side in &sides {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            let mut last = None;
                            for _ in 0..STEPS {
                                let old = side.add(1, 9, 1);
                                assert!(last.is_none_or(|last| old > last));
                                last = Some(old);
                            }
                        });
                    }
                }
            });
            assert_eq!(sides[0].read(1, 9, 1).unwrap(), [4 * STEPS]);
        });
    }
}

/// The short way and the general one update the same element, at once.
#[test]
fn no_update_is_lost_between_two_ways() {
    const STEPS: u64 = 2000;
    let sides = window(2, 16, false, false);
    assert!(sides[0].window.direct(1, 9, 8).is_none(), "not found yet");
    sides[0].read(1, 0, 1).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (0..STEPS).map(|_| sides[1].add(1, 9, 1)).max());
        let word = sides[0].window.direct(1, 9, 8).unwrap().word(8).unwrap();
        let (one, mut old) = (1u64, 0u64);
        for _ in 0..STEPS / 2 {
            // SAFETY: both are words.
            unsafe {
                let (one, old) = ((&raw const one).cast(), (&raw mut old).cast());
                sides[0].window.update_word(word, Update::Add, one, old);
            }
            loop {
                let (expected, new) = (old, old + 1);
                let values = [&raw const expected, &raw const new].map(<*const u64>::cast);
                // SAFETY: all are words.
                unsafe {
                    let old = (&raw mut old).cast();
                    sides[0].window.compare_and_swap_word(word, values, old);
                }
                if old == expected {
                    break;
                }
            }
        }
    });
    assert_eq!(sides[1].read(1, 9, 1).unwrap(), [2 * STEPS]);
}

/// User memory is what the others have written, without a call of its owner.
#[test]
fn user_memory_is_written_in_place() {
    let sides = window(2, 4, true, false);
    sides[0].add(1, 2, 77);
    // SAFETY: the element is there; other windows' writes are over.
    let found = unsafe { sides[1].part.as_ptr().add(2).read_volatile() };
    assert_eq!(found, 77);
}

#[test]
fn an_exclusive_lock_excludes() {
    let sides = window(4, 1, false, false);
    let (writers, readers) = (AtomicU32::new(0), AtomicU32::new(0));
    let most_readers = AtomicU32::new(0);
    thread::scope(|scope| {
        for (rank, side) in sides.iter().enumerate() {
            let (writers, readers, most_readers) = (&writers, &readers, &most_readers);
            scope.spawn(move || {
                for round in 0..400 {
                    if (round + rank) % 3 == 0 {
                        side.window.lock(2, LockKind::Exclusive).unwrap();
                        assert_eq!(writers.fetch_add(1, Ordering::SeqCst), 0);
                        assert_eq!(readers.load(Ordering::SeqCst), 0);
                        thread::yield_now();
                        writers.fetch_sub(1, Ordering::SeqCst);
                    } else {
                        side.window.lock(2, LockKind::Shared).unwrap();
                        let together = readers.fetch_add(1, Ordering::SeqCst) + 1;
                        assert_eq!(writers.load(Ordering::SeqCst), 0);
                        most_readers.fetch_max(together, Ordering::SeqCst);
                        thread::yield_now();
                        readers.fetch_sub(1, Ordering::SeqCst);
                    }
                    side.window.unlock(2).unwrap();
                }
            });
        }
    });
    assert!(most_readers.load(Ordering::SeqCst) > 1);
}
