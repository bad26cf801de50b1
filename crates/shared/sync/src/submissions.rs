//! Many threads hand in ids, one takes them all.
//!
//! A stack whose links stand outside, in the objects that the ids name.
//! 1. From `push` until it comes out of a [`Batch`] an id's link belongs to this list.
//! 2. A pusher writes the link before it publishes the id at the head (release). It links to the head it
//!    replaces; should that id have been taken and pushed again meanwhile, it is again the head, so the link
//!    is right (no ABA).
//! 3. The taker swaps the whole chain out (acquire); since every push is a read-modify-write of the head, it
//!    sees the links, and all that was written before, of every id in the chain.

use crate::primitive::{AtomicU32, Ordering};
use crate::section::Threads;

/// No id.
pub const NONE: u32 = u32::MAX;

/// Where the link of an id is kept.
pub trait Links {
    fn link(&self, id: u32) -> &AtomicU32;
}

/// The list. Ids are any but [`NONE`].
pub struct Submissions {
    head: AtomicU32,
    threads: Threads,
}

impl Submissions {
    pub fn new() -> Submissions {
        Submissions {
            head: AtomicU32::new(NONE),
            threads: Threads::new(),
        }
    }

    /// Hands in `id`. One read-modify-write, unless another thread comes between.
    #[inline]
    pub fn push(&self, id: u32, links: &impl Links) {
        debug_assert_ne!(id, NONE);
        self.push_over(self.head.load(Ordering::Relaxed), id, links.link(id));
    }

    #[inline]
    fn push_over(&self, mut head: u32, id: u32, link: &AtomicU32) {
        loop {
            link.store(head, Ordering::Relaxed);
            match self
                .head
                .compare_exchange_weak(head, id, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(current) => head = current,
            }
        }
    }

    /// As [`push`](Self::push), without a read-modify-write while the process has a single thread.
    #[inline]
    pub fn push_plainly(&self, id: u32, link: &AtomicU32) {
        let head = self.head.load(Ordering::Relaxed);
        if self.threads.single() {
            link.store(head, Ordering::Relaxed);
            self.head.store(id, Ordering::Relaxed);
        } else {
            self.push_over(head, id, link);
        }
    }

    /// Takes all that was handed in as it is linked, newest first, and returns the newest ([`NONE`] if nothing
    /// was). For ids whose order is no matter.
    #[inline]
    pub fn take_linked(&self) -> u32 {
        if self.is_empty() {
            return NONE;
        }
        self.head.swap(NONE, Ordering::AcqRel)
    }

    /// Whether nothing was handed in. One load.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == NONE
    }

    /// Takes all that was handed in. One taker at a time.
    #[inline]
    pub fn take(&self, links: &impl Links) -> Batch {
        if self.is_empty() {
            return Batch { first: NONE };
        }
        let mut newest = self.head.swap(NONE, Ordering::AcqRel);
        let mut first = NONE;
        while newest != NONE {
            let link = links.link(newest);
            let older = link.load(Ordering::Relaxed);
            link.store(first, Ordering::Relaxed);
            first = newest;
            newest = older;
        }
        Batch { first }
    }
}

impl Default for Submissions {
    fn default() -> Submissions {
        Submissions::new()
    }
}

/// What [`Submissions::take`] took, oldest first. To be emptied: dropping it forgets the ids.
#[must_use]
pub struct Batch {
    first: u32,
}

impl Batch {
    /// The next id, whose link is free from here on.
    #[inline]
    pub fn pop(&mut self, links: &impl Links) -> Option<u32> {
        if self.first == NONE {
            return None;
        }
        let id = self.first;
        self.first = links.link(id).load(Ordering::Relaxed);
        Some(id)
    }
}

#[cfg(test)]
struct Table(Vec<AtomicU32>);

#[cfg(test)]
impl Links for Table {
    fn link(&self, id: u32) -> &AtomicU32 {
        &self.0[id as usize]
    }
}

#[cfg(test)]
impl Table {
    fn new(ids: u32) -> Table {
        Table((0..ids).map(|_| AtomicU32::new(NONE)).collect())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn oldest_first() {
        let table = Table::new(5);
        let list = Submissions::new();
        assert!(list.is_empty());
        for id in [3, 1, 4, 0, 2] {
            list.push(id, &table);
        }
        let mut batch = list.take(&table);
        assert!(list.is_empty());
        let order: Vec<u32> = std::iter::from_fn(|| batch.pop(&table)).collect();
        assert_eq!(order, [3, 1, 4, 0, 2]);
        list.push(3, &table);
        assert_eq!(list.take(&table).pop(&table), Some(3));
    }

    #[test]
    fn each_thread_in_its_order() {
        const PER_THREAD: u32 = 2000;
        let table = Table::new(4 * PER_THREAD);
        let list = Submissions::new();
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (list, table) = (&list, &table);
                scope.spawn(move || {
                    for index in 0..PER_THREAD {
                        list.push(thread * PER_THREAD + index, table);
                    }
                });
            }
            while seen.len() < 4 * PER_THREAD as usize {
                let mut batch = list.take(&table);
                while let Some(id) = batch.pop(&table) {
                    seen.push(id);
                }
            }
        });
        for thread in 0..4 {
            let mine: Vec<u32> = seen
                .iter()
                .copied()
                .filter(|id| id / PER_THREAD == thread)
                .collect();
            let expected: Vec<u32> = (thread * PER_THREAD..(thread + 1) * PER_THREAD).collect();
            assert_eq!(mine, expected);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::Section;
    use crate::primitive::bounded;
    use loom::sync::Arc;

    struct Lane {
        list: Submissions,
        table: Table,
        payload: Vec<loom::cell::UnsafeCell<u32>>,
        served: Section<Vec<u32>>,
    }

    // SAFETY: the payloads are touched by their pusher and then by the taker; loom checks it.
    unsafe impl Sync for Lane {}
    // SAFETY: as above.
    unsafe impl Send for Lane {}

    impl Lane {
        fn new(ids: u32) -> Lane {
            Lane {
                list: Submissions::new(),
                table: Table::new(ids),
                payload: (0..ids).map(|_| loom::cell::UnsafeCell::new(0)).collect(),
                served: Section::new(Vec::new()),
            }
        }

        fn submit(&self, id: u32) {
            // SAFETY: before the push the payload is the pusher's.
            self.payload[id as usize].with_mut(|value| unsafe { *value = id + 1 });
            self.list.push(id, &self.table);
            let mut inside = self.served.enter_or_notify();
            while let Some(mut guard) = inside {
                guard.clear_mark();
                let mut batch = self.list.take(&self.table);
                while let Some(id) = batch.pop(&self.table) {
                    // SAFETY: taken out, the payload is the taker's.
                    let value = self.payload[id as usize].with(|value| unsafe { *value });
                    assert_eq!(value, id + 1);
                    guard.push(id);
                }
                inside = guard.leave();
            }
        }
    }

    /// A submission followed by a notification is always served, whoever holds the section.
    #[test]
    fn a_notification_is_always_served() {
        loom::model(|| {
            let lane = Arc::new(Lane::new(2));
            let other = {
                let lane = lane.clone();
                loom::thread::spawn(move || lane.submit(1))
            };
            lane.submit(0);
            other.join().unwrap();
            let mut served = lane.served.try_enter().expect("free at the end").clone();
            served.sort_unstable();
            assert_eq!(served, [0, 1]);
        });
    }

    /// What one thread hands in comes out in its order.
    #[test]
    fn order_of_each_thread() {
        bounded(|| {
            let lane = Arc::new(Lane::new(4));
            let other = {
                let lane = lane.clone();
                loom::thread::spawn(move || {
                    lane.submit(2);
                    lane.submit(3);
                })
            };
            lane.submit(0);
            lane.submit(1);
            other.join().unwrap();
            let served = lane.served.try_enter().expect("free at the end").clone();
            let place = |id| {
                served
                    .iter()
                    .position(|&other| other == id)
                    .expect("served")
            };
            assert_eq!(served.len(), 4);
            assert!(place(0) < place(1) && place(2) < place(3));
        });
    }
}
