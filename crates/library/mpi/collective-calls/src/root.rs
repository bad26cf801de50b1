//! The root of a rooted operation.

use weft_collective::inter;
use weft_error::{Class, Result};
use weft_objects::PROC_NULL;
use weft_objects::comm::Comm;

/// `MPI_ROOT`, with the ABI's number.
const ROOT: i32 = -4;

/// A root that is a rank of an intra-communicator; what else it may be, or what is wrong with it, takes a longer look.
#[inline(always)]
pub(super) fn rank_of(comm: &Comm, root: i32) -> Option<usize> {
    let root = usize::try_from(root).ok()?;
    (root < comm.size() as usize).then_some(root)
}

/// Where the root is, as one process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// This rank of the intra-communicator.
    Rank { root: usize, is_me: bool },
    /// Of an inter-communicator.
    Inter(inter::Root),
}

impl Root {
    #[inline]
    pub fn new(comm: &Comm, root: i32) -> Result<Root> {
        let is_inter = comm.local_and_remote().is_some();
        if is_inter && root == ROOT {
            return Ok(Root::Inter(inter::Root::Me));
        }
        if is_inter && root == PROC_NULL {
            return Ok(Root::Inter(inter::Root::Beside));
        }
        let rank = comm.check_rank(Class::Root, "root", root)?;
        let root = rank as usize;
        Ok(match is_inter {
            true => Root::Inter(inter::Root::Remote(root)),
            false => Root::Rank {
                root,
                is_me: rank == comm.rank(),
            },
        })
    }

    /// Whether the root's arguments count here.
    #[inline]
    pub fn is_me(self) -> bool {
        matches!(
            self,
            Root::Rank { is_me: true, .. } | Root::Inter(inter::Root::Me)
        )
    }

    /// Whether the arguments count here that all but the root have; in an intra-communicator the root has them too.
    #[inline]
    pub fn has_leaf(self) -> bool {
        matches!(
            self,
            Root::Rank { .. } | Root::Inter(inter::Root::Remote(_))
        )
    }

    /// Whether `MPI_IN_PLACE` may stand for the root's part of the data.
    pub fn may_be_in_place(self) -> bool {
        matches!(self, Root::Rank { is_me: true, .. })
    }

    /// The root of an operation on an intra-communicator.
    #[inline]
    pub fn within(self) -> usize {
        match self {
            Root::Rank { root, .. } => root,
            Root::Inter(_) => unreachable!("made for an inter-communicator"),
        }
    }

    /// The root of an operation on an inter-communicator.
    pub fn between(self) -> inter::Root {
        match self {
            Root::Inter(root) => root,
            Root::Rank { .. } => unreachable!("made for an intra-communicator"),
        }
    }
}
