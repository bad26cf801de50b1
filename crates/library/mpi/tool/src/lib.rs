//! The tool information interface (MPI-5.0 §15.3), but for events: this library has none.
//!
//! It is there before `MPI_Init` and after `MPI_Finalize`, by a count of its own, and calls no error handler: each
//! error is a code of [`Code`].

#![forbid(unsafe_code)]

pub mod category;
mod codes;
pub mod control;
mod counting;
pub mod performance;
pub mod session;
mod state;
mod variables;

pub use codes::{Code, Verbosity, error};
pub use state::{enter, finalize, initialize};
