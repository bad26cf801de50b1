//! Handles: numbers that name objects, checked before use.
//!
//! A handle is `kind:4 | generation:28 | index:32`. A handle that was freed, of another kind or never made is
//! found out and reported, not followed.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const CHUNK: usize = 1024;
const CHUNKS: usize = 1 << 13;
/// Objects that outlive their removal, so that a thread that wrongly uses a handle while another frees it
/// reads a live object.
const REMOVED: usize = 256;
const GENERATION_MASK: u32 = (1 << 28) - 1;

struct Entry<T> {
    generation: AtomicU32,
    object: AtomicPtr<T>,
}

struct Free<T> {
    indices: Vec<u32>,
    fresh: u32,
    removed: VecDeque<Arc<T>>,
}

/// The objects of one kind: a static of the module that defines the kind.
pub(crate) struct Table<T> {
    kind: u8,
    chunks: [AtomicPtr<Entry<T>>; CHUNKS],
    free: Mutex<Free<T>>,
    owns: PhantomData<Arc<T>>,
}

// SAFETY: the table hands out `&T` and `Arc<T>` to any thread, which `T: Send + Sync` allows; its own state is
// atomic or under the mutex.
unsafe impl<T: Send + Sync> Sync for Table<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Table<T> {}

impl<T> Table<T> {
    /// A table whose handles carry `kind`, 1 to 15.
    pub const fn new(kind: u8) -> Table<T> {
        let free = Free {
            indices: Vec::new(),
            fresh: 0,
            removed: VecDeque::new(),
        };
        Table {
            kind,
            chunks: [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS],
            free: Mutex::new(free),
            owns: PhantomData,
        }
    }

    /// Adds an object; `None` when 2^23 live.
    pub fn insert(&self, object: Arc<T>) -> Option<u64> {
        let mut free = self.free.lock();
        let index = match free.indices.pop() {
            Some(index) => index,
            None if (free.fresh as usize) < CHUNK * CHUNKS => {
                free.fresh += 1;
                free.fresh - 1
            }
            None => return None,
        };
        let chunk_slot = &self.chunks[index as usize / CHUNK];
        if chunk_slot.load(Ordering::Acquire).is_null() {
            let entry = || Entry {
                generation: AtomicU32::new(1),
                object: AtomicPtr::default(),
            };
            let chunk: Box<[Entry<T>]> = (0..CHUNK).map(|_| entry()).collect();
            chunk_slot.store(Box::into_raw(chunk).cast(), Ordering::Release);
        }
        let entry = self.entry(index).expect("its chunk exists");
        entry
            .object
            .store(Arc::into_raw(object).cast_mut(), Ordering::Release);
        let generation = entry.generation.load(Ordering::Relaxed) & GENERATION_MASK;
        Some(self.handle(index, generation))
    }

    /// The object a handle names.
    #[inline]
    pub fn get(&self, handle: u64) -> Option<&T> {
        let object = self.pointer(handle)?;
        // SAFETY: a stored object is freed only after its removal and `REMOVED` further ones; a correct program
        // does not free a handle while another thread uses it (MPI-5.0 §11.6.1), so for it the object lives.
        Some(unsafe { &*object })
    }

    /// The object a handle names, kept alive.
    pub fn share(&self, handle: u64) -> Option<Arc<T>> {
        let _free = self.free.lock();
        let object = self.pointer(handle)?;
        // SAFETY: stored by `insert` from an `Arc`, and not taken out while the mutex is held.
        unsafe {
            Arc::increment_strong_count(object);
            Some(Arc::from_raw(object))
        }
    }

    /// Removes an object; its handle names nothing from here on.
    pub fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let mut free = self.free.lock();
        let object = self.pointer(handle)?;
        let index = handle as u32;
        let entry = self.entry(index)?;
        entry.object.store(std::ptr::null_mut(), Ordering::Relaxed);
        let generation = entry.generation.load(Ordering::Relaxed);
        // Never zero after masking, so that a handle is never a small number.
        entry.generation.store(
            (generation & GENERATION_MASK).wrapping_add(1).max(1),
            Ordering::Release,
        );
        free.indices.push(index);
        // SAFETY: stored by `insert` from an `Arc`; this is the one taker, under the mutex.
        let object = unsafe { Arc::from_raw(object) };
        free.removed.push_back(object.clone());
        if free.removed.len() > REMOVED {
            free.removed.pop_front();
        }
        Some(object)
    }

    /// The handle of the live object at an index.
    pub fn current(&self, index: u32) -> Option<u64> {
        let generation = self.entry(index)?.generation.load(Ordering::Acquire) & GENERATION_MASK;
        let handle = self.handle(index, generation);
        self.pointer(handle).map(|_| handle)
    }

    fn handle(&self, index: u32, generation: u32) -> u64 {
        u64::from(index) | u64::from(generation) << 32 | u64::from(self.kind) << 60
    }

    #[inline]
    fn pointer(&self, handle: u64) -> Option<*mut T> {
        if (handle >> 60) as u8 != self.kind {
            return None;
        }
        let entry = self.entry(handle as u32)?;
        let generation = (handle >> 32) as u32 & GENERATION_MASK;
        if entry.generation.load(Ordering::Acquire) & GENERATION_MASK != generation {
            return None;
        }
        let object = entry.object.load(Ordering::Acquire);
        (!object.is_null()).then_some(object)
    }

    #[inline]
    fn entry(&self, index: u32) -> Option<&Entry<T>> {
        let chunk = self
            .chunks
            .get(index as usize / CHUNK)?
            .load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // SAFETY: a stored chunk has CHUNK entries and is never freed.
        Some(unsafe { &*chunk.add(index as usize % CHUNK) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_checked() {
        let table = Table::new(3);
        let first = table.insert(Arc::new(1)).unwrap();
        let second = table.insert(Arc::new(2)).unwrap();
        assert_eq!((table.get(first), table.get(second)), (Some(&1), Some(&2)));
        assert!(first >> 12 != 0, "never a predefined handle's number");
        assert_eq!(*table.remove(first).unwrap(), 1);
        assert!(table.get(first).is_none() && table.remove(first).is_none());
        let again = table.insert(Arc::new(3)).unwrap();
        assert_ne!(again, first);
        assert_eq!(table.get(again), Some(&3));
        assert_eq!(table.current(again as u32), Some(again));
        assert_eq!(table.current(77), None);
        let other: Table<i32> = Table::new(4);
        for wrong in [
            0,
            1,
            u64::MAX,
            second ^ 1 << 60,
            second + 1,
            second + (1 << 32),
            0x3fff_ffff_ffff_ffff,
        ] {
            assert!(table.get(wrong).is_none(), "{wrong:x}");
        }
        assert!(other.get(second).is_none());
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
        assert!(handles.iter().all(|&handle| table.get(handle).is_none()));
    }
}
