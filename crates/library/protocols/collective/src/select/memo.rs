//! Choices that were made before.
//!
//! What is cheapest follows from what all ranks know, so it is worked out once for each kind of group and each class of lengths, and kept
//! for the process. Who asks at the same time works out the same.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::Call;

/// Kinds of groups that are kept; those beyond work out each choice anew.
const KINDS: usize = 32;
/// Places that a kind is looked for in.
const PLACES: usize = 4;

/// Lengths of one class go alike: two classes for each power of two.
const CLASSES: usize = 1 + 2 * usize::BITS as usize;

/// Operations, which the tables number.
pub(super) const OPERATIONS: usize = 10;

struct Chosen {
    /// 0 while there is none.
    key: AtomicU64,
    /// One more than the number of the algorithm; 0 while none is chosen.
    chosen: [[AtomicU8; CLASSES]; OPERATIONS],
}

static MEMO: [Chosen; KINDS] = [const {
    Chosen {
        key: AtomicU64::new(0),
        chosen: [const { [const { AtomicU8::new(0) }; CLASSES] }; OPERATIONS],
    }
}; KINDS];

fn class_of(bytes: usize) -> usize {
    let Some(bits) = bytes.checked_ilog2() else {
        return 0;
    };
    let half = match bits {
        0 => 0,
        _ => bytes >> (bits - 1) & 1,
    };
    1 + 2 * bits as usize + half
}

/// The shortest length of the class.
fn shortest(class: usize) -> usize {
    match class {
        0 => 0,
        1 | 2 => 1,
        _ => (2 + (class + 1) % 2) << ((class - 1) / 2 - 1),
    }
}

/// The shortest length that goes as this one.
pub(super) fn shortest_alike(bytes: usize) -> usize {
    shortest(class_of(bytes))
}

/// The longest length that goes as this one.
pub(super) fn longest_alike(bytes: usize) -> usize {
    let class = class_of(bytes);
    let next = (class + 1..CLASSES).find(|&next| shortest(next) > shortest(class));
    next.map_or(usize::MAX, |next| shortest(next) - 1)
}

fn key_of(call: Call) -> u64 {
    let (ranks, sharing) = (call.ranks as u64, call.sharing as u64);
    let is_near = call.are_near && !call.oversubscribed;
    let cores = u64::from(call.oversubscribed) << 1 | u64::from(is_near);
    ranks << 4 | sharing << 2 | cores
}

impl Chosen {
    fn of(key: u64) -> Option<&'static Chosen> {
        let first = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        for place in 0..PLACES {
            let kind = &MEMO[(first as usize + place) % KINDS];
            let mut held = kind.key.load(Ordering::Relaxed);
            if held == 0 {
                let relaxed = Ordering::Relaxed;
                let taken = kind.key.compare_exchange(0, key, relaxed, relaxed);
                held = taken.map_or_else(|other| other, |_| key);
            }
            if held == key {
                return Some(kind);
            }
        }
        None
    }
}

/// The number of the algorithm of the operation of that number, as `choose` has it for the shortest length of the call's class.
#[inline]
pub(super) fn chosen(operation: usize, call: Call, choose: fn(Call) -> u8) -> u8 {
    let class = class_of(call.bytes);
    let of_class = Call {
        bytes: shortest_alike(call.bytes),
        ..call
    };
    let Some(kind) = Chosen::of(key_of(call)) else {
        return choose(of_class);
    };
    let place = &kind.chosen[operation][class];
    match place.load(Ordering::Relaxed) {
        0 => {
            let number = choose(of_class);
            place.store(number + 1, Ordering::Relaxed);
            number
        }
        known => known - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_of_lengths_for_each_power_of_two() {
        assert_eq!(class_of(0), 0);
        let mut before = 0;
        for bytes in 1..=1 << 12 {
            let class = class_of(bytes);
            assert!(class >= before && shortest(class) <= bytes, "{bytes}");
            assert!((shortest(class)..=bytes).all(|other| class_of(other) == class));
            assert!(class < before + 3 && bytes <= longest_alike(bytes));
            assert_ne!(class_of(longest_alike(bytes) + 1), class);
            before = class;
        }
        for bits in 1..usize::BITS {
            let power = 1_usize << bits;
            assert_eq!(shortest(class_of(power)), power);
            assert_eq!(shortest(class_of(power + power / 2)), power + power / 2);
        }
        assert_eq!(longest_alike(usize::MAX), usize::MAX);
    }
}
