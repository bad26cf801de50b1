//! Barriers between operations in which a rank waits for a root, where ranks share cores.
//!
//! The last rank to come to a barrier finds all others there and could leave at once; but those others have not run since. If its next
//! operation is a broadcast again, it would wait there for a root that has not left the barrier yet, and look in vain before it makes
//! way. So after such an operation a rank makes way at the end of the barrier, until the root has left it or for [`TRIES`] times: the
//! ranks that share its core need it now, and this one finds what it waits for when it is back.

use std::sync::atomic::{AtomicU32, Ordering};

/// How often a rank makes way for a root that has not left the barrier.
pub(crate) const TRIES: usize = 2;

/// Whom a rank waits for in a collective operation where nobody waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leader {
    Nobody,
    /// The root.
    Rank(usize),
    /// A barrier: the one of the operation before.
    AsBefore,
}

/// The leader of a rank's last operation on a communicator, barriers left out. Read and written by the rank's own threads alone, whose calls
/// on one communicator follow each other.
#[derive(Debug)]
pub(crate) struct Following(AtomicU32);

const NOBODY: u32 = u32::MAX;

impl Default for Following {
    fn default() -> Following {
        Following(AtomicU32::new(NOBODY))
    }
}

impl Following {
    /// An operation with this leader is over. After a barrier: the rank for which to make way, if there is one.
    #[inline]
    pub fn after(&self, leader: Leader) -> Option<usize> {
        let last = match leader {
            Leader::Nobody => NOBODY,
            Leader::Rank(rank) => rank as u32,
            Leader::AsBefore => {
                let last = self.0.load(Ordering::Relaxed);
                return (last != NOBODY).then_some(last as usize);
            }
        };
        self.0.store(last, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_have_the_leader_of_the_operation_before_them() {
        let following = Following::default();
        assert_eq!(following.after(Leader::AsBefore), None);
        assert_eq!(following.after(Leader::Rank(3)), None);
        assert_eq!(following.after(Leader::AsBefore), Some(3));
        assert_eq!(following.after(Leader::AsBefore), Some(3));
        assert_eq!(following.after(Leader::Nobody), None);
        assert_eq!(following.after(Leader::AsBefore), None);
    }
}
