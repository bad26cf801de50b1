//! Statuses.

use std::ffi::c_int;

use mpi_abi::status;
use weft_abi::MPI_Status;

use crate::kinds::{ERROR_CODE, RANK, TAG};
use weft_foreign::convert::{Kind, NONE};

/// MPICH's status, in C and, as five integers, in Fortran.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Status {
    /// The lower half of the bytes received.
    pub count_low: c_int,
    /// The upper half, and in the lowest bit whether the request was cancelled.
    pub count_high_and_cancelled: c_int,
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
}

const _: () = assert!(size_of::<Status>() == 20);

pub struct STATUS;

impl Kind for STATUS {
    type Foreign = Status;
    type Standard = MPI_Status;
    const UNTOUCHED: MPI_Status = MPI_Status {
        MPI_SOURCE: NONE,
        MPI_TAG: NONE,
        MPI_ERROR: NONE,
        MPI_internal: [NONE; 5],
    };

    #[inline]
    fn to_standard(foreign: Status) -> MPI_Status {
        let mut standard = MPI_Status {
            MPI_SOURCE: RANK::to_standard(foreign.source),
            MPI_TAG: TAG::to_standard(foreign.tag),
            MPI_ERROR: ERROR_CODE::to_standard(foreign.error),
            MPI_internal: [0; 5],
        };
        let high = u64::from(foreign.count_high_and_cancelled.cast_unsigned() >> 1);
        let low = u64::from(foreign.count_low.cast_unsigned());
        status::set_bytes(&mut standard, high << 32 | low);
        status::set_cancelled(&mut standard, foreign.count_high_and_cancelled & 1 != 0);
        standard
    }

    #[inline]
    fn to_foreign(standard: MPI_Status) -> Status {
        let bytes = status::bytes(&standard);
        let cancelled = c_int::from(status::is_cancelled(&standard));
        Status {
            count_low: bytes as c_int,
            count_high_and_cancelled: (bytes >> 32 << 1) as c_int | cancelled,
            source: RANK::to_foreign(standard.MPI_SOURCE),
            tag: TAG::to_foreign(standard.MPI_TAG),
            error: ERROR_CODE::to_foreign(standard.MPI_ERROR),
        }
    }

    /// `MPI_STATUS_IGNORE` is 1, and null is no status.
    #[inline]
    fn is_ignored(place: *const Status) -> bool {
        place.addr() <= 1
    }

    /// Most calls leave `MPI_ERROR` as it is (MPI-5.0 §3.2.5).
    #[inline]
    unsafe fn store(place: *mut Status, standard: MPI_Status, before: MPI_Status) {
        if standard == before {
            return;
        }
        let mut foreign = STATUS::to_foreign(standard);
        if standard.MPI_ERROR == before.MPI_ERROR {
            // SAFETY: by this function's contract.
            foreign.error = unsafe { (&raw const (*place).error).read_unaligned() };
        }
        // SAFETY: by this function's contract.
        unsafe { place.write_unaligned(foreign) };
    }
}
