//! The software RDMA device as `libibverbs.so.1`, in the place of rdma-core's.
//!
//! Verbs programs are linked against versioned symbols. [`public`] lists them: each is a jump to a function of Rust's,
//! under the name and version that rdma-core gives it. What is about objects of the device lies in `weft_softrdma`; here
//! are the calls that need no device ([`text`], [`rate`], [`kernel`], [`sysfs`], [`process`]) and those that the device does
//! not have ([`unsupported`]).
//!
//! rdma-core's vendor libraries (libmlx5, libefa) import private symbols and are linked into many programs, so these are
//! there too, and refuse ([`private`]).
//!
//! A panic never crosses into C: it ends the process with one line ([`panic`]).

mod kernel;
mod panic;
mod private;
mod process;
mod public;
mod rate;
mod sysfs;
mod text;
mod unsupported;
