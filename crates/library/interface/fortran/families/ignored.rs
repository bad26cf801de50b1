//! The addresses of statuses that nobody wants, which C has in variables.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::blocks::ignored;

unsafe extern "C" {
    static MPI_F_STATUS_IGNORE: AtomicPtr<c_void>;
    static MPI_F_STATUSES_IGNORE: AtomicPtr<c_void>;
    static MPI_F08_STATUS_IGNORE: AtomicPtr<c_void>;
    static MPI_F08_STATUSES_IGNORE: AtomicPtr<c_void>;
    fn weft_ignored_statuses(addresses: *const [usize; 4]);
}

extern "C" fn begin() {
    let addresses = ignored();
    // SAFETY: variables of the library for C, and its function.
    unsafe {
        let variables = [
            &MPI_F_STATUS_IGNORE,
            &MPI_F_STATUSES_IGNORE,
            &MPI_F08_STATUS_IGNORE,
            &MPI_F08_STATUSES_IGNORE,
        ];
        for (variable, address) in variables.into_iter().zip(addresses) {
            variable.store(address, Ordering::Relaxed);
        }
        weft_ignored_statuses(&addresses.map(<*mut c_void>::addr));
    }
}

/// Run by the dynamic linker, before the program can call anything and behind what the library for C runs.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
