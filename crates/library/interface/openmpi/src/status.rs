//! Statuses.

use std::ffi::c_int;

use mpi_abi::status;
use weft_abi::MPI_Status;
use weft_foreign::convert::{Kind, NONE};

use crate::kinds::{ERROR_CODE, RANK, TAG};

/// Open MPI's status, in C and, as six integers, in Fortran.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Status {
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
    pub is_cancelled: c_int,
    pub bytes: u64,
}

const _: () = assert!(size_of::<Status>() == 24);

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
        status::set_bytes(&mut standard, foreign.bytes);
        status::set_cancelled(&mut standard, foreign.is_cancelled != 0);
        standard
    }

    #[inline]
    fn to_foreign(standard: MPI_Status) -> Status {
        Status {
            source: RANK::to_foreign(standard.MPI_SOURCE),
            tag: TAG::to_foreign(standard.MPI_TAG),
            error: ERROR_CODE::to_foreign(standard.MPI_ERROR),
            is_cancelled: c_int::from(status::is_cancelled(&standard)),
            bytes: status::bytes(&standard),
        }
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
