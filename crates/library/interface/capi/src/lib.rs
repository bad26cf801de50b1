//! The shims of `libmpi_abi.so.1`: each function of the C interface converts its arguments and calls the library.
//!
//! No protocol lives here, and no state but the caller's language (`language`). `unsafe` is in the conversions (`entry`, `argument`, `array`, `callback`, `handle`,
//! `output`, `predefined`, `section`, `status`) and in `system`; the shims themselves are ordinary functions under `#[mpi]`, with the
//! parameters that the standard gives them.
#![allow(clippy::too_many_arguments)]

/// A call for which there is no memory ends with an error.
#[global_allocator]
static ALLOCATOR: weft_reserve::Reserving = weft_reserve::Reserving;

mod argument;
mod array;
mod callback;
mod entry;
pub mod foreign;
mod handle;
pub mod integer;
mod key;
pub mod language;
mod naming;
mod output;
mod predefined;
pub mod section;
pub mod status;
mod system;

mod abi;
pub mod collective;
mod communicator;
mod datatype;
mod environment;
mod error;
mod external;
mod file;
mod fortran;
mod generalized;
mod info;
pub mod lengths;
mod one_sided;
mod partitioned;
mod point_to_point;
mod recovery;
mod session;
mod tool;
mod topology;
mod unsupported;
