//! The common blocks of `mpif.h` and of the module `mpi`. Each is checked as one range: an ordinary argument costs one comparison
//! for each name that the block may have.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::MPI_Status;
use crate::special::STATUSES;

const INTEGERS: usize = STATUSES + 2 * (size_of::<MPI_Status>() / size_of::<c_int>());

#[repr(C, align(32))]
struct Block([c_int; INTEGERS]);

#[repr(C, align(32))]
struct Texts([c_char; 2]);

macro_rules! blocks {
    ($($integers:ident, $texts:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            static mut $integers: Block = Block([0; INTEGERS]);
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            static mut $texts: Texts = Texts([0; 2]);
        )*

        /// Which integer of a block stands at an address.
        #[inline(always)]
        pub fn integer_at(address: *const c_void) -> Option<usize> {
            $(
                let offset = address.addr().wrapping_sub((&raw const $integers).addr());
                if offset < size_of::<[c_int; INTEGERS]>() {
                    return Some(offset / size_of::<c_int>());
                }
            )*
            None
        }

        /// Whether an address is that of `MPI_ARGV_NULL` or `MPI_ARGVS_NULL`.
        pub fn is_no_arguments(address: *const c_void) -> bool {
            $(
                let offset = address.addr().wrapping_sub((&raw const $texts).addr());
                if offset < size_of::<[c_char; 2]>() {
                    return true;
                }
            )*
            false
        }
    };
}

// The block /MPIWEFT/ with an underscore, without one, and in upper case.
blocks! {
    mpiweft_, mpiweftc_;
    mpiweft, mpiweftc;
    MPIWEFT, MPIWEFTC;
}
