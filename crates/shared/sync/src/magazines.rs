//! Recycles slot ids with a cache for each thread.
//!
//! A thread takes from the front of its cache and gives to the back; between cache and shared pool ids move
//! 32 at a time, kept in order. So a thread that takes n ids and frees them in order gets runs of consecutive
//! ids again, which a prefetcher can follow, and the pool hands out what was freed last, which is still warm.

use crate::Section;
use std::cell::RefCell;
use std::sync::Arc;

const CACHED: usize = 64;
const MOVED: usize = 32;

/// A recycler of the ids `0..capacity`. Ids never used before come out in ascending order and only when no
/// freed one is at hand.
pub struct Magazines {
    pool: Arc<Pool>,
}

struct Pool {
    capacity: u32,
    shelf: Section<Shelf>,
}

struct Shelf {
    freed: Vec<u32>,
    fresh: u32,
}

struct Cache {
    pool: Arc<Pool>,
    ids: [u32; CACHED],
    first: usize,
    len: usize,
}

/// A thread's caches, one for each [`Magazines`] it used; usually one.
struct Caches(Vec<Cache>);

thread_local! {
    static CACHES: RefCell<Caches> = const { RefCell::new(Caches(Vec::new())) };
}

impl Magazines {
    pub fn new(capacity: u32) -> Magazines {
        let shelf = Section::new(Shelf {
            freed: Vec::new(),
            fresh: 0,
        });
        Magazines {
            pool: Arc::new(Pool { capacity, shelf }),
        }
    }

    /// An id that is not in use; none if all are. Other threads' caches may hold up to 64 free ones each.
    #[inline]
    pub fn alloc(&self) -> Option<u32> {
        self.cached(|cache| {
            if cache.len == 0 && !cache.refill() {
                return None;
            }
            let id = cache.ids[cache.first % CACHED];
            cache.first = cache.first.wrapping_add(1);
            cache.len -= 1;
            Some(id)
        })
        .unwrap_or_else(|| self.pool.enter(|shelf, capacity| shelf.one(capacity)))
    }

    /// Gives an id back.
    #[inline]
    pub fn free(&self, id: u32) {
        let done = self.cached(|cache| {
            if cache.len == CACHED {
                cache.flush(MOVED);
            }
            cache.ids[(cache.first + cache.len) % CACHED] = id;
            cache.len += 1;
        });
        if done.is_none() {
            self.pool.enter(|shelf, _| shelf.freed.push(id));
        }
    }

    /// Runs `work` on this thread's cache; none while the thread is being torn down.
    #[inline]
    fn cached<R>(&self, work: impl FnOnce(&mut Cache) -> R) -> Option<R> {
        CACHES
            .try_with(|caches| {
                let caches = &mut caches.borrow_mut().0;
                let index = match caches.first() {
                    Some(cache) if Arc::ptr_eq(&cache.pool, &self.pool) => 0,
                    _ => self.find(caches),
                };
                work(&mut caches[index])
            })
            .ok()
    }

    #[cold]
    fn find(&self, caches: &mut Vec<Cache>) -> usize {
        if let Some(index) = caches
            .iter()
            .position(|cache| Arc::ptr_eq(&cache.pool, &self.pool))
        {
            return index;
        }
        // Pools that only this cache still knows have no more users.
        caches.retain(|cache| Arc::strong_count(&cache.pool) > 1);
        caches.push(Cache {
            pool: self.pool.clone(),
            ids: [0; CACHED],
            first: 0,
            len: 0,
        });
        caches.len() - 1
    }
}

impl Pool {
    /// Runs `work` inside the section. Others are there only for a copy of 32 ids, so waiting is short.
    fn enter<R>(&self, work: impl FnOnce(&mut Shelf, u32) -> R) -> R {
        work(&mut self.shelf.enter(), self.capacity)
    }
}

impl Shelf {
    fn one(&mut self, capacity: u32) -> Option<u32> {
        self.freed.pop().or_else(|| {
            let id = self.fresh;
            self.fresh += u32::from(id < capacity);
            (id < capacity).then_some(id)
        })
    }
}

impl Cache {
    /// Fetches up to 32 ids; false if there are none.
    #[cold]
    fn refill(&mut self) -> bool {
        debug_assert_eq!(self.len, 0);
        let Cache {
            pool,
            ids,
            first,
            len,
        } = self;
        *first = 0;
        *len = pool.enter(|shelf, capacity| {
            let at = shelf.freed.len().saturating_sub(MOVED);
            let freed = shelf.freed.len() - at;
            ids[..freed].copy_from_slice(&shelf.freed[at..]);
            shelf.freed.truncate(at);
            if freed > 0 {
                return freed;
            }
            let fresh = (capacity - shelf.fresh).min(MOVED as u32);
            for (id, at) in (shelf.fresh..shelf.fresh + fresh).zip(ids) {
                *at = id;
            }
            shelf.fresh += fresh;
            fresh as usize
        });
        *len > 0
    }

    /// Gives the oldest `count` ids to the pool, in order.
    #[cold]
    fn flush(&mut self, count: usize) {
        let Cache {
            pool,
            ids,
            first,
            len,
        } = self;
        pool.enter(|shelf, _| {
            shelf
                .freed
                .extend((0..count).map(|index| ids[(*first + index) % CACHED]));
        });
        *first = first.wrapping_add(count);
        *len -= count;
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.flush(self.len);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::{HashSet, VecDeque};
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn all_ids_and_no_more() {
        let magazines = Magazines::new(100);
        let ids: HashSet<u32> = std::iter::from_fn(|| magazines.alloc()).collect();
        assert_eq!(ids, (0..100).collect());
        magazines.free(42);
        assert_eq!(magazines.alloc(), Some(42));
        assert_eq!(magazines.alloc(), None);
    }

    /// Freed in order, ids come again in runs of consecutive ones.
    #[test]
    fn runs_stay_together() {
        let magazines = Magazines::new(4096);
        for round in 0..4 {
            let ids: Vec<u32> = (0..1024).map(|_| magazines.alloc().unwrap()).collect();
            let breaks = ids.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
            assert!(breaks <= 1024 / MOVED, "round {round}: {breaks} breaks");
            ids.into_iter().for_each(|id| magazines.free(id));
        }
    }

    #[test]
    fn exit_of_a_thread_gives_back() {
        let magazines = Magazines::new(64);
        std::thread::scope(|scope| {
            // Joined by its handle: the end of a scope does not wait for thread-local destructors.
            let thread = scope.spawn(|| {
                let ids: Vec<u32> = std::iter::from_fn(|| magazines.alloc()).collect();
                assert_eq!(ids.len(), 64);
                ids.into_iter().for_each(|id| magazines.free(id));
            });
            thread.join().unwrap();
        });
        assert_eq!(std::iter::from_fn(|| magazines.alloc()).count(), 64);
    }

    #[test]
    fn no_id_is_given_twice() {
        let magazines = Magazines::new(2000);
        let used: Vec<AtomicBool> = (0..2000).map(|_| AtomicBool::new(false)).collect();
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let (magazines, used) = (&magazines, &used);
                let give_back = move |id: u32| {
                    used[id as usize].store(false, Ordering::Release);
                    magazines.free(id);
                };
                scope.spawn(move || {
                    let mut mine = VecDeque::new();
                    for step in 0..20_000usize {
                        if mine.len() < 100 + thread * 50 && step % 3 != 0 {
                            let id = magazines.alloc().expect("enough for all");
                            assert!(!used[id as usize].swap(true, Ordering::AcqRel));
                            mine.push_back(id);
                        } else if let Some(id) = mine.pop_front() {
                            give_back(id);
                        }
                    }
                    mine.into_iter().for_each(give_back);
                });
            }
        });
    }
}
