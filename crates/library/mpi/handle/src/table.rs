//! Handles: numbers that name objects, checked before use.
//!
//! A handle is `kind:4 | generation:28 | index:32`. A handle that was freed, of another kind or never made is
//! found out and reported, not followed.
//!
//! Each place says by a word of its own whether its object may be used ([`Pins`]): who has the place pinned uses the object;
//! who takes the last pin of a removed one away drops it and gives the place back. So finding and removing an object takes
//! no lock; adding one takes that on the empty places. Where a pin is too dear the caller promises that nobody removes the
//! object meanwhile ([`Table::lend`]).

use parking_lot::Mutex;
use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock};

use weft_sync::atomic::AtomicU32;
use weft_sync::{GENERATIONS, Links, Pins, Submissions};

const CHUNK: usize = 1024;
const CHUNKS: usize = 1 << 13;

/// A place for an object.
struct Entry<T> {
    pins: Pins,
    /// The link of an empty place that was given back.
    link: AtomicU32,
    /// Written by who owns the empty place, and by who takes the object out (`Pins`, rules 3 and 4).
    object: UnsafeCell<Option<Arc<T>>>,
}

/// Chunks of places: each is made once and stays.
struct Places<T>([AtomicPtr<Entry<T>>; CHUNKS]);

/// Empty places that nobody else has.
struct Free {
    indices: Vec<u32>,
    fresh: u32,
}

/// The objects of one kind: a static of the module that defines the kind.
pub struct Table<T> {
    kind: u8,
    places: Places<T>,
    free: Mutex<Free>,
    /// Places given back since `free` was last empty.
    returned: LazyLock<Submissions>,
}

// SAFETY: the table hands out `&T` and `Arc<T>` to any thread, which `T: Send + Sync` allows, and drops objects in any;
// what else it holds is atomic, under the mutex, or one thread's by the protocol of `Pins`.
unsafe impl<T: Send + Sync> Sync for Table<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Table<T> {}

/// An object that stays as long as this is there, removed or not.
pub struct Pinned<'a, T> {
    table: &'a Table<T>,
    entry: &'a Entry<T>,
    index: u32,
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.shared()
    }
}

impl<T> Pinned<'_, T> {
    #[inline]
    fn shared(&self) -> &Arc<T> {
        // SAFETY: the place is pinned, so the object that was put in before it was LIVE stays in (`Pins`, rules 1 and 3).
        let object = unsafe { &*self.entry.object.get() };
        object.as_ref().expect("a place that is LIVE has an object")
    }
}

impl<T> Drop for Pinned<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.entry.pins.unpin() {
            self.table.reclaim(self.entry, self.index);
        }
    }
}

impl<T> Table<T> {
    /// A table whose handles carry `kind`, 1 to 15.
    pub const fn new(kind: u8) -> Table<T> {
        let free = Free {
            indices: Vec::new(),
            fresh: 0,
        };
        Table {
            kind,
            places: Places([const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS]),
            free: Mutex::new(free),
            returned: LazyLock::new(Submissions::new),
        }
    }

    /// Adds an object; `None` when 2^23 live, or the system has no memory.
    pub fn insert(&self, object: Arc<T>) -> Option<u64> {
        weft_reserve::check().ok()?;
        self.insert_agreed(object)
    }

    /// The same, of an object that other processes have too: whether there is memory was agreed on with its number.
    pub fn insert_agreed(&self, object: Arc<T>) -> Option<u64> {
        let (index, entry) = self.empty_place()?;
        // SAFETY: the place is empty and this thread's alone (`Pins`, rule 4).
        unsafe { *entry.object.get() = Some(object) };
        Some(self.handle(index, entry.pins.fill()))
    }

    fn empty_place(&self) -> Option<(u32, &Entry<T>)> {
        let mut free = self.free.lock();
        if free.indices.is_empty() {
            let mut returned = self.returned.take(&self.places);
            free.indices
                .extend(std::iter::from_fn(|| returned.pop(&self.places)));
        }
        let index = match free.indices.pop() {
            Some(index) => index,
            None if (free.fresh as usize) < CHUNK * CHUNKS => {
                free.fresh += 1;
                free.fresh - 1
            }
            None => return None,
        };
        if self.places.at(index).is_none() {
            self.places.grow(index);
        }
        Some((index, self.places.at(index).expect("its chunk exists")))
    }

    /// The object that a handle names, without a pin.
    ///
    /// # Safety
    /// While the reference is used no other thread removes the object, and this one does not either.
    #[inline]
    pub unsafe fn lend(&self, handle: u64) -> Option<&T> {
        let (entry, generation, _) = self.find(handle)?;
        if !entry.pins.is_live(generation) {
            return None;
        }
        // SAFETY: the place is LIVE, and stays so while the reference is used (this function's contract), so the object
        // that was put in before stays in.
        unsafe { (*entry.object.get()).as_deref() }
    }

    /// The object that a handle names, which stays while it is pinned. Two atomic operations on a word of its own.
    #[inline]
    pub fn pin(&self, handle: u64) -> Option<Pinned<'_, T>> {
        let (entry, generation, index) = self.find(handle)?;
        let table = self;
        // Made only if it is pinned: dropping it takes a pin away.
        entry.pins.pin(generation).then(|| Pinned {
            table,
            entry,
            index,
        })
    }

    /// The object that a handle names, for longer than a call.
    pub fn share(&self, handle: u64) -> Option<Arc<T>> {
        self.pin(handle).map(|pinned| pinned.shared().clone())
    }

    /// Removes an object; its handle names nothing from here on.
    pub fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let pinned = self.pin(handle)?;
        pinned.entry.pins.remove().then(|| pinned.shared().clone())
    }

    /// The last pin of a removed object is gone.
    fn reclaim(&self, entry: &Entry<T>, index: u32) {
        // SAFETY: this thread was told to take the object out (`Pins`, rule 3).
        let object = unsafe { (*entry.object.get()).take() };
        entry.pins.empty();
        self.returned.push(index, &self.places);
        drop(object);
    }

    /// The handle of the live object at an index.
    pub fn current(&self, index: u32) -> Option<u64> {
        let generation = self.places.at(index)?.pins.current()?;
        Some(self.handle(index, generation))
    }

    fn handle(&self, index: u32, generation: u32) -> u64 {
        u64::from(index) | u64::from(generation) << 32 | u64::from(self.kind) << 60
    }

    /// The place that a handle names, the generation that it has to have, and its index.
    #[inline]
    fn find(&self, handle: u64) -> Option<(&Entry<T>, u32, u32)> {
        if (handle >> 60) as u8 != self.kind {
            return None;
        }
        let index = handle as u32;
        let generation = (handle >> 32) as u32 % GENERATIONS;
        Some((self.places.at(index)?, generation, index))
    }
}

impl<T> Places<T> {
    /// The place at an index that may be any, if it was made.
    #[inline]
    fn at(&self, index: u32) -> Option<&Entry<T>> {
        let chunk = self.0.get(index as usize / CHUNK)?.load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // SAFETY: a stored chunk has CHUNK entries and is freed with the places alone.
        Some(unsafe { &*chunk.add(index as usize % CHUNK) })
    }

    /// Makes the chunk of an index that has none; one thread at a time.
    #[cold]
    fn grow(&self, index: u32) {
        let entry = || Entry {
            pins: Pins::default(),
            link: AtomicU32::new(0),
            object: UnsafeCell::new(None),
        };
        let chunk: Box<[Entry<T>]> = (0..CHUNK).map(|_| entry()).collect();
        let home = &self.0[index as usize / CHUNK];
        home.store(Box::into_raw(chunk).cast(), Ordering::Release);
    }
}

impl<T> Links for Places<T> {
    fn link(&self, id: u32) -> &AtomicU32 {
        &self.at(id).expect("it was given back").link
    }
}

impl<T> Drop for Places<T> {
    fn drop(&mut self) {
        for chunk in &self.0 {
            let chunk = chunk.load(Ordering::Relaxed);
            if !chunk.is_null() {
                let entries = std::ptr::slice_from_raw_parts_mut(chunk, CHUNK);
                // SAFETY: made by `grow` from such a box, and nobody borrows it any more.
                drop(unsafe { Box::from_raw(entries) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By both ways, which agree.
    fn get<T: Copy + PartialEq + std::fmt::Debug>(table: &Table<T>, handle: u64) -> Option<T> {
        let pinned = table.pin(handle).map(|pinned| *pinned);
        // SAFETY: no other thread has the table.
        let lent = unsafe { table.lend(handle) };
        assert_eq!(pinned, lent.copied());
        pinned
    }

    #[test]
    fn handles_are_checked() {
        let table = Table::new(3);
        let first = table.insert(Arc::new(1)).unwrap();
        let second = table.insert(Arc::new(2)).unwrap();
        assert_eq!(
            (get(&table, first), get(&table, second)),
            (Some(1), Some(2))
        );
        assert!(first >> 12 != 0, "never a predefined handle's number");
        assert_eq!(*table.remove(first).unwrap(), 1);
        assert!(get(&table, first).is_none() && table.remove(first).is_none());
        let again = table.insert(Arc::new(3)).unwrap();
        assert_ne!(again, first);
        assert_eq!(get(&table, again), Some(3));
        assert_eq!(table.current(again as u32), Some(again));
        assert_eq!(table.current(77), None);
        let other: Table<u64> = Table::new(4);
        for wrong in [
            0,
            1,
            u64::MAX,
            second ^ 1 << 60,
            second + 1,
            second + (1 << 32),
            0x3fff_ffff_ffff_ffff,
        ] {
            assert!(get(&table, wrong).is_none(), "{wrong:x}");
        }
        assert_eq!(get(&other, second), None);
    }

    #[test]
    fn many_live_and_freed() {
        let table = Table::new(1);
        let handles: Vec<u64> = (0..5000)
            .map(|n| table.insert(Arc::new(n)).unwrap())
            .collect();
        for (n, &handle) in handles.iter().enumerate().rev() {
            assert_eq!(*table.share(handle).unwrap(), n);
            table.remove(handle).unwrap();
        }
        for _ in 0..10_000 {
            table.remove(table.insert(Arc::new(0)).unwrap()).unwrap();
        }
        assert!(handles.iter().all(|&handle| get(&table, handle).is_none()));
    }

    #[test]
    fn a_removed_object_stays_while_it_is_pinned() {
        let table = Table::new(1);
        let object = Arc::new(7);
        let handle = table.insert(object.clone()).unwrap();
        let pinned = table.pin(handle).unwrap();
        assert_eq!(*table.remove(handle).unwrap(), 7);
        assert!(table.pin(handle).is_none() && table.remove(handle).is_none());
        let other = table.insert(Arc::new(8)).unwrap();
        assert_ne!(other as u32, handle as u32, "its place is not empty");
        assert_eq!((*pinned, Arc::strong_count(&object)), (7, 2));
        drop(pinned);
        assert_eq!(Arc::strong_count(&object), 1);
        assert_eq!(table.insert(Arc::new(9)).unwrap() as u32, handle as u32);
    }

    #[test]
    fn threads_find_what_others_remove() {
        let table: Table<u64> = Table::new(1);
        let handles: Vec<_> = (0..64)
            .map(|n| table.insert(Arc::new(n)).unwrap())
            .collect();
        let removed = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (table, handles, removed) = (&table, &handles, &removed);
                scope.spawn(move || {
                    for (n, &handle) in handles.iter().enumerate() {
                        for _ in 0..100 {
                            assert!(table.pin(handle).is_none_or(|found| *found == n as u64));
                        }
                        if n % 4 != thread && table.remove(handle).is_some() {
                            removed.fetch_add(1, Ordering::Relaxed);
                            table.remove(table.insert(Arc::new(1000)).unwrap());
                        }
                    }
                });
            }
        });
        assert_eq!(removed.into_inner(), 64, "each once");
    }
}
