//! Whose request a completion answers for.
//!
//! # Protocol
//! A request's number is a [`Tag`]: the *line* it was posted on, which is a queue pair as one thread uses it, and how many requests
//! its completion answers for: itself, and those before it on the same line that asked for none. Who takes a completion adds that to
//! the line's count.
//!
//! - Where a completion queue has one thread, the count is a plain number of that thread's endpoint.
//! - Where it has several, any of them may find it. Each line then has a [`Tally`]: all add, its own thread reads, and sees what the
//!   request brought although another one took its completion ([`Count`]).
//! - A shared queue pair also has a [`Room`]: the requests that still fit. A thread takes them off before it posts, and who takes the
//!   completion puts them back. It is never more than the truth, so the queue never overflows (the paper's §V-F: "atomic fetch and
//!   decrement the QP-depth value").
//!
//! Both are `weft_sync`'s, where their models are.

use std::sync::{Arc, OnceLock};

use weft_sync::{Count, Room};
use weft_verbs::Completion;

use crate::{Error, Layout};

/// The number of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub line: u32,
    pub answers: u32,
}

impl Tag {
    #[inline]
    pub fn pack(self) -> u64 {
        u64::from(self.line) << 32 | u64::from(self.answers)
    }

    #[inline]
    pub fn unpack(id: u64) -> Tag {
        Tag {
            line: (id >> 32) as u32,
            answers: id as u32,
        }
    }
}

/// What a completion says: the line, how many requests it answers for, and its status if that is not success.
#[inline]
pub(crate) fn read(completion: &Completion, lines: usize) -> Result<(usize, u32, u32), Error> {
    let Tag { line, answers } = Tag::unpack(completion.id());
    if answers == 0 || line as usize >= lines {
        return Err(match completion.status() {
            0 => Error::Untagged {
                id: completion.id(),
            },
            status => Error::Failed { status },
        });
    }
    Ok((line as usize, answers, completion.status()))
}

/// The counts of one line, where others may find its completions.
#[derive(Default)]
pub(crate) struct Tally {
    completed: Count,
    /// The status of the first request that failed, by whoever found it.
    failed: OnceLock<u32>,
    room: Option<Arc<Room>>,
}

impl Tally {
    #[inline]
    pub fn take(&self, answers: u32, status: u32) {
        if status != 0 {
            // Those that follow it were flushed.
            let _ = self.failed.set(status);
            return;
        }
        if let Some(room) = &self.room {
            room.put_back(u64::from(answers));
        }
        self.completed.add(u64::from(answers));
    }

    #[inline]
    pub fn completed(&self) -> u64 {
        self.completed.read()
    }

    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        match self.failed.get() {
            None => Ok(()),
            Some(&status) => Err(Error::Failed { status }),
        }
    }

    /// Takes room for so many requests on a shared queue pair, if it is there; `None` for a queue pair that is not shared.
    #[inline]
    pub fn reserve(&self, requests: usize) -> Option<bool> {
        Some(self.room.as_ref()?.take(requests as u64))
    }

    /// Puts back room for requests that were not posted.
    pub fn give_back(&self, requests: usize) {
        if let Some(room) = &self.room {
            room.put_back(requests as u64);
        }
    }
}

/// One for each line of the process; those of one queue pair share its room. `None` where nothing is found by others.
pub(crate) fn tallies(layout: &Layout) -> Option<Arc<[Tally]>> {
    if layout.completions == 1 {
        return None;
    }
    let mut rooms: Vec<Arc<Room>> = Vec::new();
    let mut tallies = Vec::new();
    for thread in 0..layout.threads {
        if thread % layout.queue_pair == 0 {
            let threads = layout.queue_pair.min(layout.threads - thread);
            let free = (layout.depth * threads) as u64;
            let room = |_| Arc::new(Room::new(free));
            rooms = (0..layout.queue_pairs_each).map(room).collect();
        }
        let is_shared = layout.queue_pair > 1;
        tallies.extend(rooms.iter().map(|room| Tally {
            room: is_shared.then(|| room.clone()),
            ..Tally::default()
        }));
    }
    Some(tallies.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Category;

    #[test]
    fn tags_come_back() {
        for (line, answers) in [(0, 1), (1 << 24, 64), (u32::MAX, u32::MAX)] {
            let tag = Tag { line, answers };
            assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }

    #[test]
    fn only_who_shares_a_completion_queue_has_tallies() {
        assert!(tallies(&Category::Static.layout(4)).is_none());
        assert_eq!(tallies(&Category::MpiThreads.layout(4)).unwrap().len(), 4);
    }

    #[test]
    fn the_room_of_a_shared_queue_pair_is_that_of_its_threads_together() {
        let layout = Layout {
            depth: 3,
            ..Category::MpiThreads.layout(2)
        };
        let tallies = tallies(&layout).unwrap();
        assert_eq!(tallies[0].reserve(5), Some(true));
        assert_eq!(tallies[1].reserve(2), Some(false));
        assert_eq!(tallies[1].reserve(1), Some(true));
        assert_eq!(tallies[0].reserve(1), Some(false));
        tallies[0].take(5, 0);
        assert_eq!((tallies[0].completed(), tallies[1].completed()), (5, 0));
        assert_eq!(tallies[1].reserve(5), Some(true));
    }

    #[test]
    fn a_failure_reaches_whose_request_it_was() {
        let layout = Layout {
            completions: 2,
            ..Category::Static.layout(2)
        };
        let tallies = tallies(&layout).unwrap();
        for status in [12, 5] {
            tallies[1].take(1, status);
        }
        assert_eq!(tallies[0].check(), Ok(()));
        assert_eq!(tallies[1].check(), Err(Error::Failed { status: 12 }));
        assert_eq!(tallies[1].completed(), 0);
    }
}
