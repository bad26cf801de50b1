//! The special addresses: common blocks of `mpif.h` and the module `mpi`, which are variables of the module `mpi_f08` too.

use std::ffi::{c_char, c_int, c_void};

use crate::family::blocks;
use crate::special::{BOTTOM, ERRCODES_IGNORE, IN_PLACE, STATUSES, UNWEIGHTED, WEIGHTS_EMPTY};

const STATUS: [usize; 6] = [STATUSES; 6];

blocks! {
    integers {
        mpi_fortran_bottom_: [BOTTOM];
        mpi_fortran_in_place_: [IN_PLACE];
        mpi_fortran_status_ignore_: STATUS;
        mpi_fortran_statuses_ignore_: STATUS;
        mpi_fortran_errcodes_ignore_: [ERRCODES_IGNORE];
        mpi_fortran_unweighted_: [UNWEIGHTED];
        mpi_fortran_weights_empty_: [WEIGHTS_EMPTY];
    }
    others {}
    texts {
        mpi_fortran_argv_null_: 1;
        mpi_fortran_argvs_null_: 1;
    }
}

/// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`, of `mpif.h` and of `mpi_f08`.
pub fn ignored() -> [*mut c_void; 4] {
    let status = (&raw mut mpi_fortran_status_ignore_).cast();
    let statuses = (&raw mut mpi_fortran_statuses_ignore_).cast();
    [status, statuses, status, statuses]
}
