//! The special addresses: common blocks of `mpif.h` and the module `mpi`, and variables of the module `mpi_f08`.

use std::ffi::{c_char, c_int, c_void};

use crate::family::blocks;
use crate::special::{
    BOTTOM, BUFFER_AUTOMATIC, ERRCODES_IGNORE, IN_PLACE, STATUSES, UNWEIGHTED, WEIGHTS_EMPTY,
};

const STATUS: [usize; 5] = [STATUSES; 5];

blocks! {
    integers {
        mpipriv1_: [BOTTOM, IN_PLACE, STATUSES, STATUSES, STATUSES, STATUSES, STATUSES];
        mpipriv2_: [STATUSES, STATUSES, STATUSES, STATUSES, STATUSES, ERRCODES_IGNORE];
        mpifcmb5_: [UNWEIGHTED];
        mpifcmb9_: [WEIGHTS_EMPTY];
        mpifcmba_: [BUFFER_AUTOMATIC];
        MPIR_F08_MPI_BOTTOM: [BOTTOM];
        MPIR_F08_MPI_IN_PLACE: [IN_PLACE];
        __mpi_f08_link_constants_MOD_mpi_errcodes_ignore: [ERRCODES_IGNORE];
        __mpi_f08_link_constants_MOD_mpi_unweighted: [UNWEIGHTED];
        __mpi_f08_link_constants_MOD_mpi_weights_empty: [WEIGHTS_EMPTY];
    }
    others {
        MPIR_F08_MPI_STATUS_IGNORE_OBJ: STATUS;
        MPIR_F08_MPI_STATUSES_IGNORE_OBJ: STATUS;
    }
    texts {
        mpiprivc_: 2;
        __mpi_f08_link_constants_MOD_mpi_argv_null: 1;
        __mpi_f08_link_constants_MOD_mpi_argvs_null: 1;
    }
}

/// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`, of `mpif.h` and of `mpi_f08`.
pub fn ignored() -> [*mut c_void; 4] {
    // SAFETY: the status stands in the block.
    let status = unsafe { (&raw mut mpipriv1_).cast::<c_int>().add(2) };
    [
        status.cast(),
        (&raw mut mpipriv2_).cast(),
        (&raw const MPIR_F08_MPI_STATUS_IGNORE_OBJ)
            .cast_mut()
            .cast(),
        (&raw const MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
            .cast_mut()
            .cast(),
    ]
}
