//! Datatypes and reduction operations: what MPI-5.0 chapters 5 and 6.9 say about data, without
//! communication.
//!
//! A [`Datatype`] is a predefined type or is built from another; it says where the bytes of a message lie
//! and hands them to the engine as a [`weft_memory::Memory`]. [`Op`] names the predefined reduction
//! operations; [`kernel`] finds the loop that applies one to a type. Handles, the commit flag, reference
//! counts and the ABI's numbers belong to the layers above.

mod array;
mod body;
mod bounds;
mod construct;
mod copy;
mod datatype;
mod external;
mod fortran;
mod ops;
mod predefined;
mod reduce;
mod resizing;
mod shape;
mod signature;
mod subarray;
mod tiling;

pub use copy::{Dimension, Section};
pub use datatype::{Datatype, Envelope};
pub use fortran::{TypeClass, match_size, value_index};
pub use ops::{Kernel, Op, combine, kernel, supports};
pub use predefined::{Element, Group, Predefined};
pub use subarray::{Darray, Distribution, Order, Subarray};
pub use tiling::{Growth, Tiling};

/// A size, extent or displacement does not fit into 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

impl std::fmt::Display for Overflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the size or extent of the datatype does not fit into 63 bits")
    }
}

impl std::error::Error for Overflow {}
