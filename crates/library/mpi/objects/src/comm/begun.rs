//! A communicator's collective operations that are not blocking: those that have begun, or are prepared, with the lengths that this process passed.
//!
//! Written by the operations, which have their tags from here; read by any thread that answers another process's enquiry (`collective-calls/enquiries`).

use std::sync::Arc;

use parking_lot::Mutex;
use slab::Slab;

use super::operations::BLOCKING_TAGS;

/// Tags of nonblocking operations are from here on to twice as much. Blocking operations never match them (MPI-5.0 §6.12), and there are
/// programs, correct with libraries that have two rows, that do not call both kinds in one order.
const NONBLOCKING_TAGS: u32 = BLOCKING_TAGS;
/// Those of persistent ones are from here on to twice as much.
const PERSISTENT_TAGS: u32 = 2 * NONBLOCKING_TAGS;
const _: () = assert!(2 * PERSISTENT_TAGS - 1 == crate::constants::TAG_UB as u32);

#[derive(Debug, Default)]
pub struct Begun(Arc<Mutex<Rows>>);

#[derive(Debug, Default)]
struct Rows {
    /// Tags given to nonblocking operations.
    nonblocking: u32,
    /// To persistent ones: no other has one's tag while 2^30 are prepared.
    persistent: u32,
    /// Those that are not over, or that may be started again, with their tags.
    standing: Slab<(u32, Standing)>,
}

/// Where this process is in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The length that it has passed, once the operation has looked at it to choose how it goes. It is the same in all starts (MPI-5.0 §6.13).
    pub bytes: Option<u64>,
    pub is_under_way: bool,
}

/// How far this process is in the operation that has a tag.
#[derive(Debug, PartialEq, Eq)]
pub enum Known {
    NotBegun,
    /// It is over, with all its starts: this process sends nothing more in it.
    Over,
    Standing(Standing),
}

/// An operation's tag: from when it has begun, or is prepared, until it is dropped.
pub struct Tagged {
    rows: Arc<Mutex<Rows>>,
    /// Among those that stand.
    key: usize,
    tag: u32,
}

/// While an operation is under way.
pub struct UnderWay<'a>(&'a Tagged);

impl Begun {
    /// The tag of a nonblocking operation that nobody asks about, or that is over here already.
    pub fn next_nonblocking(&self) -> u32 {
        self.0.lock().next_nonblocking()
    }

    pub fn begin(&self) -> Tagged {
        self.tagged(Rows::next_nonblocking)
    }

    pub fn prepare(&self) -> Tagged {
        self.tagged(Rows::next_persistent)
    }

    /// Under one lock, so that no operation that has a tag counts as over.
    fn tagged(&self, next: impl FnOnce(&mut Rows) -> u32) -> Tagged {
        let mut rows = self.0.lock();
        let tag = next(&mut rows);
        let standing = Standing {
            bytes: None,
            is_under_way: tag < PERSISTENT_TAGS,
        };
        let key = rows.standing.insert((tag, standing));
        let rows = self.0.clone();
        Tagged { rows, key, tag }
    }

    pub fn known(&self, tag: u32) -> Known {
        let rows = self.0.lock();
        let given = match tag {
            NONBLOCKING_TAGS..PERSISTENT_TAGS => is_given(tag, NONBLOCKING_TAGS, rows.nonblocking),
            _ => is_given(tag, PERSISTENT_TAGS, rows.persistent),
        };
        let found = rows.standing.iter().find(|(_, (other, _))| *other == tag);
        match found {
            Some((_, &(_, standing))) => Known::Standing(standing),
            None if given => Known::Over,
            None => Known::NotBegun,
        }
    }
}

/// Whether a tag is among the last half that a row has given.
fn is_given(tag: u32, tags: u32, given: u32) -> bool {
    let back = given.wrapping_sub(tag.wrapping_sub(tags)) % tags;
    (tags..2 * tags).contains(&tag) && back != 0 && back <= given.min(tags / 2)
}

impl Rows {
    fn next_nonblocking(&mut self) -> u32 {
        next(&mut self.nonblocking, NONBLOCKING_TAGS)
    }

    fn next_persistent(&mut self) -> u32 {
        next(&mut self.persistent, PERSISTENT_TAGS)
    }
}

fn next(given: &mut u32, tags: u32) -> u32 {
    let tag = tags + *given % tags;
    *given = given.wrapping_add(1);
    tag
}

impl Tagged {
    pub fn tag(&self) -> u32 {
        self.tag
    }

    pub fn start(&self) -> UnderWay<'_> {
        self.go(true);
        UnderWay(self)
    }

    /// A nonblocking operation is under way for as long as it stands.
    fn go(&self, is_under_way: bool) {
        if self.tag >= PERSISTENT_TAGS {
            self.change(|standing| standing.is_under_way = is_under_way);
        }
    }

    /// The first length counts: what an operation is composed of has others.
    pub fn choose(&self, bytes: u64) {
        self.change(|standing| standing.bytes = standing.bytes.or(Some(bytes)));
    }

    fn change(&self, change: impl FnOnce(&mut Standing)) {
        if let Some((_, standing)) = self.rows.lock().standing.get_mut(self.key) {
            change(standing);
        }
    }
}

impl Drop for Tagged {
    fn drop(&mut self) {
        self.rows.lock().standing.remove(self.key);
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.go(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonblocking_operation_is_over_once_dropped() {
        let begun = Begun::default();
        assert_eq!(begun.known(NONBLOCKING_TAGS), Known::NotBegun);
        let operation = begun.begin();
        assert_eq!(operation.tag(), NONBLOCKING_TAGS);
        assert!(matches!(begun.known(operation.tag()), Known::Standing(_)));
        drop(operation);
        assert_eq!(begun.known(NONBLOCKING_TAGS), Known::Over);
        assert_eq!(begun.known(NONBLOCKING_TAGS + 1), Known::NotBegun);
        assert_eq!(begun.known(PERSISTENT_TAGS), Known::NotBegun);
    }

    #[test]
    fn a_persistent_operation_stands_while_it_is_prepared() {
        let begun = Begun::default();
        let operation = begun.prepare();
        let under_way = operation.start();
        operation.choose(40);
        operation.choose(8);
        let standing = |is_under_way| {
            Known::Standing(Standing {
                bytes: Some(40),
                is_under_way,
            })
        };
        assert_eq!(begun.known(operation.tag()), standing(true));
        drop(under_way);
        assert_eq!(begun.known(operation.tag()), standing(false));
        drop(operation);
        assert_eq!(begun.known(PERSISTENT_TAGS), Known::Over);
    }

    #[test]
    fn tags_come_again() {
        let begun = Begun::default();
        begun.0.lock().nonblocking = NONBLOCKING_TAGS - 1;
        let (last, first) = (begun.next_nonblocking(), begun.begin());
        assert_eq!(last, PERSISTENT_TAGS - 1);
        assert_eq!(first.tag(), NONBLOCKING_TAGS);
        assert_eq!(begun.known(last), Known::Over);
        assert_eq!(begun.known(first.tag() + 1), Known::NotBegun);
        drop(first);
        assert_eq!(begun.known(NONBLOCKING_TAGS), Known::Over);
    }

    #[test]
    fn no_other_tag_is_known() {
        let begun = Begun::default();
        drop((begun.begin(), begun.prepare()));
        for tag in [0, BLOCKING_TAGS - 1, 2 * PERSISTENT_TAGS, u32::MAX] {
            assert_eq!(begun.known(tag), Known::NotBegun);
        }
    }
}
