//! Calls in which this process moves nothing, found at a glance.

use weft_collective::Counts;
use weft_handle::CommId;
use weft_objects::comm::Comm;
use weft_objects::types::{self, Buffer};

use super::call::Call;

/// An argument of which a glance may tell that it is right and that nothing is moved for it: no elements, of a predefined datatype. Where it is
/// unusual or wrong that is not told: it takes a longer look, with the other arguments.
pub(super) trait Glance {
    fn is_nothing(&self) -> bool;
}

impl Glance for Buffer {
    #[inline]
    fn is_nothing(&self) -> bool {
        self.count == 0 && types::is_plain(self.datatype)
    }
}

impl Glance for Counts<'_> {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.are_zero()
    }
}

impl<T: Glance> Glance for &T {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        T::is_nothing(self)
    }
}

/// `MPI_IN_PLACE`, where there is none: as much as in the other buffer.
impl<T: Glance> Glance for Option<T> {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.as_ref().is_none_or(T::is_nothing)
    }
}

/// Both of them.
impl<A: Glance, B: Glance> Glance for (A, B) {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.0.is_nothing() && self.1.is_nothing()
    }
}

impl<P> Call<P> {
    /// The call on an intra-communicator in which this process moves nothing.
    #[inline(always)]
    pub(super) fn void(id: CommId, arguments: &impl Glance) -> Option<Call<P>> {
        Call::void_if(id, arguments.is_nothing(), |_| true)
    }

    /// The same, if it is nothing and further arguments are right on that communicator.
    #[inline(always)]
    pub(super) fn void_if(
        id: CommId,
        is_nothing: bool,
        are_right: impl FnOnce(&Comm) -> bool,
    ) -> Option<Call<P>> {
        if !is_nothing {
            return None;
        }
        let comm = weft_objects::comm::find(id).ok()?;
        let is_void = comm.local_and_remote().is_none() && are_right(comm);
        is_void.then_some(Call::Void(comm))
    }
}
