//! The special addresses: in Fortran variables that are told by where they stand (MPI-5.0 §2.5.4, §19.1.16).
//!
//! `mpif.h` and the module `mpi` declare them in two common blocks. The linker gives a common block of the program the name
//! that is defined here too, and the program's definition wins, so the address that this library looks up is the program's.
//! Each block is checked as one range: an ordinary argument costs one comparison for each name that the block may have.

use std::ffi::{c_char, c_int, c_void};

use weft_abi::*;

/// The integers of a block, in the order of its declaration.
pub const BOTTOM: usize = 0;
pub const IN_PLACE: usize = 1;
pub const BUFFER_AUTOMATIC: usize = 2;
pub const UNWEIGHTED: usize = 3;
pub const WEIGHTS_EMPTY: usize = 4;
pub const ERRCODES_IGNORE: usize = 5;
/// Two statuses of as many integers: of one and of several calls.
pub const STATUSES: usize = 6;
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
        fn integer_at(address: *const c_void) -> Option<usize> {
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

/// A buffer's address in C.
#[inline(always)]
pub fn buffer(address: *mut c_void) -> *mut c_void {
    match integer_at(address) {
        None => address,
        Some(BOTTOM) => MPI_BOTTOM,
        Some(IN_PLACE) => MPI_IN_PLACE,
        Some(BUFFER_AUTOMATIC) => MPI_BUFFER_AUTOMATIC,
        Some(_) => address,
    }
}

/// A status, or several.
#[inline(always)]
pub fn status(address: *mut c_void) -> *mut MPI_Status {
    match integer_at(address) {
        Some(STATUSES..) => MPI_STATUS_IGNORE,
        _ => address.cast(),
    }
}

pub fn weights(address: *mut c_void) -> *mut c_int {
    match integer_at(address) {
        Some(UNWEIGHTED) => MPI_UNWEIGHTED,
        Some(WEIGHTS_EMPTY) => MPI_WEIGHTS_EMPTY,
        _ => address.cast(),
    }
}

pub fn errcodes(address: *mut c_void) -> *mut c_int {
    match integer_at(address) {
        Some(ERRCODES_IGNORE) => MPI_ERRCODES_IGNORE,
        _ => address.cast(),
    }
}
