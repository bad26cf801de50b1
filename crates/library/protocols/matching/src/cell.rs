//! The cell of a posted receive or of an unexpected message.

use std::num::NonZeroU64;

use crate::key::{Key, Wildcards};
use crate::{FOLLOWER, NIL};

/// A cell's place in one table. A group is a circular list in order of arrival; its oldest cell, the leader, stands in
/// the chain of a bucket. Indices into the arena.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    /// Of a leader: the next leader in the same bucket, or `NIL`. Of any other cell of a group: `FOLLOWER`.
    pub chain: u32,
    /// The next younger cell of the group; of the youngest, the leader.
    pub next: u32,
    /// The next older cell of the group; of the leader, the youngest.
    pub prev: u32,
}

impl Links {
    #[inline(always)]
    pub fn is_leader(&self) -> bool {
        self.chain != FOLLOWER
    }
}

/// A payload with the number that no other cell of the arena ever had. Numbers rise, so they order posted receives;
/// and since they are unique, they tell a stale identifier from a good one.
pub(crate) struct Stamped<T> {
    pub stamp: NonZeroU64,
    pub value: T,
}

/// Gives each payload of one side its number.
pub(crate) struct Stamps(NonZeroU64);

impl Stamps {
    pub const fn new() -> Stamps {
        Stamps(NonZeroU64::MIN)
    }

    #[inline(always)]
    pub fn next(&mut self) -> NonZeroU64 {
        self.0 = self
            .0
            .checked_add(1)
            .expect("at a number each nanosecond, 64 bits last for five centuries");
        self.0
    }
}

/// A cell that stands in `TABLES` tables: one or four. Aligned so that what matching reads is one cache line.
#[repr(C, align(64))]
pub(crate) struct Cell<T, const TABLES: usize> {
    links: [Links; TABLES],
    tag: u32,
    place: u64,
    /// `None` in a free cell.
    pub content: Option<Stamped<T>>,
}

const _: () = {
    assert!(
        size_of::<Cell<[u64; 4], 1>>() == 64,
        "a posted receive is one cache line"
    );
    assert!(
        size_of::<Cell<[u64; 7], 4>>() == 128,
        "an unexpected message is two cache lines"
    );
};

impl<T, const TABLES: usize> Cell<T, TABLES> {
    pub fn free() -> Self {
        const { assert!(TABLES == 1 || TABLES == 4) };
        Cell {
            links: [Links {
                chain: NIL,
                next: NIL,
                prev: NIL,
            }; TABLES],
            tag: 0,
            place: 0,
            content: None,
        }
    }

    /// Makes a free cell live. Its links are for the tables to write.
    #[inline(always)]
    pub fn fill(&mut self, key: Key, stamp: NonZeroU64, value: T) {
        self.tag = key.tag;
        self.place = key.place;
        self.content = Some(Stamped { stamp, value });
    }

    #[inline(always)]
    pub fn key(&self) -> Key {
        Key {
            place: self.place,
            tag: self.tag,
        }
    }

    /// The cell's place in the table of `kind`. A cell that stands in one table has one place, whichever table it is.
    #[inline(always)]
    pub fn links(&self, kind: Wildcards) -> &Links {
        &self.links[kind as usize % TABLES]
    }

    #[inline(always)]
    pub fn links_mut(&mut self, kind: Wildcards) -> &mut Links {
        &mut self.links[kind as usize % TABLES]
    }

    #[inline(always)]
    pub fn value(&self) -> Option<&T> {
        self.content.as_ref().map(|content| &content.value)
    }

    #[inline]
    pub fn stamp(&self) -> Option<NonZeroU64> {
        self.content.as_ref().map(|content| content.stamp)
    }
}
