//! What a status of Fortran's is that nobody wants, in C: addresses that stand in variables. The library for Fortran says what
//! they are, when it is there.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use weft_abi_macros::exported;

/// Where there is no Fortran, as many integers as the longest status has.
static NOWHERE: [[c_int; 6]; 4] = [[0; 6]; 4];

const fn nowhere(at: usize) -> AtomicPtr<c_int> {
    AtomicPtr::new((&raw const NOWHERE[at]).cast_mut().cast())
}

#[unsafe(no_mangle)]
pub static MPI_F_STATUS_IGNORE: AtomicPtr<c_int> = nowhere(0);
#[unsafe(no_mangle)]
pub static MPI_F_STATUSES_IGNORE: AtomicPtr<c_int> = nowhere(1);
#[unsafe(no_mangle)]
pub static MPI_F08_STATUS_IGNORE: AtomicPtr<c_int> = nowhere(2);
#[unsafe(no_mangle)]
pub static MPI_F08_STATUSES_IGNORE: AtomicPtr<c_int> = nowhere(3);

/// The addresses in Fortran, where there is one. A program may have the variables above in its own memory, out of the reach of
/// this library.
static IN_FORTRAN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

/// For the library for Fortran, before anything else is called; it has set the variables.
///
/// # Safety
/// Four addresses stand there.
#[exported]
unsafe extern "C" fn weft_ignored_statuses(addresses: *const [usize; 4]) {
    // SAFETY: by this function's contract.
    for (place, address) in IN_FORTRAN.iter().zip(unsafe { *addresses }) {
        place.store(address, Ordering::Relaxed);
    }
}

/// Whether an address is of no status, or of one that nobody wants, in C or Fortran.
pub fn is_ignored(status: *const c_int) -> bool {
    // MPICH's MPI_STATUS_IGNORE is 1, at which no status lies in any library.
    status.addr() <= 1
        || NOWHERE.as_ptr_range().contains(&status.cast())
        || IN_FORTRAN
            .iter()
            .any(|one| one.load(Ordering::Relaxed) == status.addr())
}
