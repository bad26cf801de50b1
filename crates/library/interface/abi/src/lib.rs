//! The MPI-5.0 standard ABI as Rust types, constants and a table of its functions.
//!
//! `crates/library/interface/abi/table` is the one source: `cargo xtask header` writes `include/mpi.h`, [`constants`] and
//! [`callback`] from it, and `#[mpi]` checks every entry point against it. The names are the standard's.
#![forbid(unsafe_code)]
#![allow(non_camel_case_types, non_snake_case)]

#[rustfmt::skip]
pub mod callback;
#[rustfmt::skip]
pub mod constants;
pub mod table;
pub mod types;

/// Error classes beyond the standard, above those that it has numbers for (`mpi-ext.h`).
pub const MPIX_ERR_PROC_FAILED_PENDING: std::ffi::c_int = 16381;
pub const MPIX_ERR_REVOKED: std::ffi::c_int = 16382;

pub use callback::*;
pub use constants::*;
pub use types::*;
