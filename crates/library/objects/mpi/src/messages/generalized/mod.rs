//! Generalized requests (MPI-5.0 §13.2): operations of the program's, that it completes itself.

mod object;

pub(crate) use object::Generalized;
pub use object::{Functions, refused};
