//! Accesses that the target makes itself: what it makes and what it leaves to the origin.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use weft_datatype::{Datatype, Op, Predefined};
use weft_transport::Fabric;

use super::{Side, served, window};
use crate::short_access::{Access, What};
use crate::{Fault, Operation, Target};

const WORDS: usize = 3000;

impl Side {
    /// Asks the first of two sides to have the word at an index read by the second. Whether it was, and the word.
    fn ask_word(&self, index: usize) -> (bool, u64) {
        let link = self.window.link(1).unwrap();
        let access = Access {
            what: What::Get,
            address: link.stretch(8 * index as i64, 8).address(),
            bytes: 8,
        };
        let mut word = 0u64;
        // SAFETY: the data of the access are a word.
        let take = |data: *const u8| word = unsafe { data.cast::<u64>().read_unaligned() };
        let made = self.window.ask((1, link), access, |_| (), take).unwrap();
        (made, word)
    }
}

/// Until the target is at hand: it may have lost its core for a while.
fn asked(sides: &[Side], index: usize) -> u64 {
    loop {
        if let (true, word) = sides[0].ask_word(index) {
            return word;
        }
    }
}

#[test]
fn made_by_a_target_that_serves() {
    for deny in [false, true] {
        let mut sides = window(2, WORDS, true, deny);
        sides[1].part[7] = 77;
        served(&sides, || assert_eq!(asked(&sides, 7), 77));
    }
}

#[test]
fn left_to_the_origin_while_the_target_does_not_serve() {
    let mut sides = window(2, WORDS, true, false);
    sides[1].part[7] = 77;
    assert_eq!(sides[0].ask_word(7), (false, 0));
    assert_eq!(sides[0].read(1, 7, 1).unwrap(), [77]);
    assert_eq!(sides[0].add(1, 7, 3), 77);
    // What was withdrawn is not made later.
    sides[1].shm.serve();
    assert_eq!(sides[1].part[7], 80);
}

/// After accesses in vain some are not asked for, and then one is again.
#[test]
fn an_origin_asks_again_after_a_while() {
    let sides = window(2, WORDS, true, false);
    for _ in 0..100 {
        assert!(!sides[0].ask_word(0).0);
    }
    served(&sides, || assert_eq!(asked(&sides, 0), 0));
}

#[test]
fn an_update_is_refused_while_another_process_updates() {
    let sides = window(3, WORDS, true, false);
    let link = sides[2].window.link(1).unwrap();
    let updating = sides[2].window.lock_updates(link).unwrap();
    let begun = AtomicBool::new(false);
    served(&sides, || {
        thread::scope(|scope| {
            let adder = scope.spawn(|| {
                begun.store(true, Ordering::Relaxed);
                sides[0].add(1, 0, 5)
            });
            while !begun.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            for _ in 0..1000 {
                assert_eq!(sides[2].read(1, 0, 1).unwrap(), [0]);
            }
            drop(updating);
            assert_eq!(adder.join().unwrap(), 0);
        });
    });
    assert_eq!(sides[2].read(1, 0, 1).unwrap(), [5]);
}

/// Some by the target, some by the origins, while the target serves now and then.
#[test]
fn no_update_is_lost_between_target_and_origins() {
    const STEPS: u64 = 3000;
    let sides = window(3, WORDS, true, false);
    let left = AtomicU32::new(2);
    thread::scope(|scope| {
        for origin in [0, 2] {
            let (sides, left) = (&sides, &left);
            scope.spawn(move || {
                for _ in 0..STEPS {
                    sides[origin].add(1, 3, 1);
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let mut turn = 0u32;
        while left.load(Ordering::Relaxed) != 0 {
            turn = turn.wrapping_add(1);
            if turn >> 12 & 1 == 0 {
                sides[1].shm.serve();
            }
            std::hint::spin_loop();
        }
    });
    assert_eq!(sides[0].read(1, 3, 1).unwrap(), [2 * STEPS]);
}

/// Every kind of access and many lengths, at any offset, against the same on a vector.
#[test]
fn every_access_is_what_it_is_without_a_target() {
    let sides = window(2, WORDS, true, false);
    let bytes = Datatype::from(Predefined::Byte);
    let mut model = vec![0u8; 8 * WORDS];
    let sum = Operation::new(Op::Sum, Predefined::Uint8).unwrap();
    served(&sides, || {
        for (step, length) in [
            1, 2, 31, 32, 33, 64, 200, 2047, 2049, 4096, 5000, 16_416, 20_000,
        ]
        .into_iter()
        .enumerate()
        {
            let offset = 5 * step;
            let data: Vec<u8> = (0..length).map(|at| (at * 3 + step) as u8).collect();
            let target = |datatype| Target {
                rank: 1,
                offset: offset as i64,
                datatype,
                count: length,
            };
            let mut out = data.clone();
            let memory = weft_memory::Memory::contiguous(out.as_mut_ptr(), length);
            // SAFETY: the vectors are as long as the target.
            unsafe { sides[0].window.put(&target(&bytes), &memory) }.unwrap();
            model[offset..offset + length].copy_from_slice(&data);
            let numbers = Datatype::from(Predefined::Uint8);
            let mut old = vec![0; length];
            // SAFETY: as above.
            unsafe {
                let window = &sides[0].window;
                window.update(&target(&numbers), sum, data.as_ptr(), old.as_mut_ptr())
            }
            .unwrap();
            assert_eq!(old, model[offset..offset + length]);
            for (byte, &by) in model[offset..].iter_mut().zip(&data) {
                *byte = byte.wrapping_add(by);
            }
            let mut back = vec![0; 8 * WORDS];
            let all = Target {
                rank: 1,
                offset: 0,
                datatype: &bytes,
                count: back.len(),
            };
            let memory = weft_memory::Memory::contiguous(back.as_mut_ptr(), back.len());
            // SAFETY: as above.
            unsafe { sides[0].window.get(&all, &memory) }.unwrap();
            assert!(back == model, "{length} bytes");
        }
    });
}

#[test]
fn compared_and_swapped_by_the_target() {
    let sides = window(2, WORDS, true, false);
    served(&sides, || {
        for (compare, new, old) in [(0, 5, 0), (0, 6, 5), (5, 7, 5), (7, 8, 7)] {
            let (compare, new): (u64, u64) = (compare, new);
            let mut found = 0u64;
            let values = [&raw const compare, &raw const new].map(<*const u64>::cast);
            // SAFETY: each is one element.
            unsafe {
                let window = &sides[0].window;
                let result = (&raw mut found).cast();
                window.compare_and_swap((1, 8), Predefined::Uint64, values, result)
            }
            .unwrap();
            assert_eq!(found, old);
        }
        assert_eq!(sides[0].read(1, 0, 3).unwrap(), [0, 8, 0]);
    });
}

/// Whatever a hostile peer writes into its words, only memory of the window is touched.
#[test]
fn nonsense_is_refused() {
    let mut sides = window(2, WORDS, true, false);
    let outside = vec![3u64; 64];
    sides[1].part.fill(9);
    let link = sides[0].window.link(1).unwrap();
    let part = link.stretch(0, 8).address();
    let addresses = [
        0,
        part - 1,
        part + 8 * WORDS as u64 - 7,
        u64::MAX,
        outside.as_ptr().addr() as u64,
    ];
    for address in addresses {
        for what in (0..6).flat_map(|kind| [0, 2, 13, 14, 255].map(|op| kind | op << 8)) {
            for basic in [0, 5, 200, u64::MAX >> 16] {
                for bytes in [1, 8, 16, 24, 20_000, u64::MAX] {
                    let word = what | basic << 16;
                    link.control.short_access(0).ask_words(word, address, bytes);
                    link.process.call();
                    link.control.header().callers.0[0].store(1, Ordering::Relaxed);
                    sides[1].shm.serve();
                }
            }
        }
    }
    assert!(outside.iter().all(|&word| word == 3) && sides[1].part.iter().all(|&word| word == 9));
    served(&sides, || assert_eq!(asked(&sides, 0), 9));
}

#[test]
fn outside_is_the_origins_error() {
    let sides = window(2, WORDS, true, false);
    served(&sides, || {
        let out = sides[0].read(1, WORDS as i64 - 1, 2);
        assert!(matches!(out, Err(Fault::Range)));
    });
}
