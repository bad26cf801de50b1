//! Taking a thing back that others use without a lock: a region of memory, which peers find by its key.
//!
//! # Protocol
//! 1. `key` says that the thing is there. Its owner stores 0 to take it back ([`withdraw`]).
//! 2. A user has a `mark` of its own. It [`claim`]s the mark with the thing's index, then looks whether the key [`stands`]. If it does the
//!    user may use the thing until it [`leave`]s; else it leaves at once.
//! 3. The owner, after it has withdrawn the key, waits until no mark [`is_for`] the index. Both sides write one word and then look at
//!    the other (SeqCst): the user sees that the key is gone, or the owner sees the mark.
//! 4. `leave` is a release, and the owner's look an acquire: all that the user did is done before the owner goes on.

use crate::primitive::{AtomicU32, Ordering, latest};

/// Claims a free mark for `index`, which is not 0. False if another user has the mark.
#[inline]
pub fn claim(mark: &AtomicU32, index: u32) -> bool {
    mark.compare_exchange(0, index, Ordering::SeqCst, Ordering::Relaxed)
        .is_ok()
}

/// For a user that has claimed a mark: whether the thing is there, and stays until the user leaves.
#[inline]
pub fn stands(key: &AtomicU32, expected: u32) -> bool {
    latest(key) == expected
}

/// Frees a mark.
#[inline]
pub fn leave(mark: &AtomicU32) {
    mark.store(0, Ordering::Release);
}

/// For the owner: no user finds the thing from now on. A swap, so that the look at the marks cannot come before it.
pub fn withdraw(key: &AtomicU32) {
    key.swap(0, Ordering::SeqCst);
}

/// For the owner that has withdrawn the key: whether the mark's user may still use thing `index`.
pub fn is_for(mark: &AtomicU32, index: u32) -> bool {
    latest(mark) == index
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use crate::primitive::Plain;
    use loom::sync::Arc;

    const KEY: u32 = 5 << 8;

    /// Two users, each with a mark, read a word that its owner writes after it has taken it back.
    #[test]
    fn the_owner_has_the_thing_alone_once_no_mark_is_left() {
        crate::primitive::bounded(|| {
            let shared = Arc::new((
                AtomicU32::new(KEY),
                [AtomicU32::new(0), AtomicU32::new(0)],
                Plain::new(7),
            ));
            let users: Vec<_> = (0..2)
                .map(|user| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        let (key, marks, word) = &*shared;
                        assert!(claim(&marks[user], 5));
                        if stands(key, KEY) {
                            assert_eq!(word.read(), 7);
                        }
                        leave(&marks[user]);
                    })
                })
                .collect();
            let (key, marks, word) = &*shared;
            withdraw(key);
            // An owner that finds a mark waits; here it leaves the word alone.
            if marks.iter().all(|mark| !is_for(mark, 5)) {
                word.write(8);
            }
            for user in users {
                user.join().unwrap();
            }
        });
    }
}
