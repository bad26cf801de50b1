//! The shims of `libmpi_abi.so.1`: each function of the C interface converts its arguments and calls the library.
//!
//! No state and no protocol live here. `unsafe` is in the conversions (`entry`, `argument`, `handle`, `status`) and in
//! `system`; the shims themselves are ordinary functions under `#[mpi]`.

mod argument;
mod entry;
mod handle;
mod status;
mod system;

mod abi;
mod datatype;
mod environment;
mod error;
mod external;
mod point_to_point;
mod tool;
mod unsupported;
