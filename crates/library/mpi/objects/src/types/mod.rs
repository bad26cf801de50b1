//! Datatype handles (MPI-5.0 chapter 5). What a datatype means is in `weft_datatype`.

mod annotation;
mod buffer;
mod datatype;
pub mod fortran;

pub use buffer::Buffer;
pub use datatype::{
    Found, TypeId, annotation, as_predefined, commit, committed, dup, find, find_committed, free,
    in_section, is_address, is_plain, keep, memory, name, plain, plain_bytes, register, set_name,
};
pub use datatype::{PrivateHandle, current};
pub use fortran::constituent;
pub use weft_datatype::{
    Darray, Dimension, Distribution, Envelope, Order, Section, Subarray, TypeClass, match_size,
    value_index,
};
