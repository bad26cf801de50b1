//! Files (MPI-5.0 chapter 14). What views mean and how bytes come to the file is `weft_file`'s; here are handles, arguments,
//! file pointers, hints, data representations, and the messages of collective calls.
//!
//! All reading and writing is by positions that a call computes; the pointers are numbers. A blocking access is done in its call,
//! a nonblocking one by the pool's threads. Nothing is made in the file system but the program's files.

mod access;
mod aggregation;
mod agreement;
mod collective;
mod disk;
mod errors;
mod form;
mod hints;
mod independent;
mod inquire;
mod kept;
mod lists;
mod mode;
mod object;
mod open;
mod pointer;
mod pool;
mod position;
mod representation;
mod seen;
mod set_view;
mod size;
mod split;
mod two_phase;

pub use collective::{start_all, transfer_all};
pub use form::{Direction, Pair, Positioning};
#[cfg(fuzzing)]
pub use hints::fuzz as fuzz_settings;
pub use independent::{start, transfer};
pub use inquire::{handler_of, info, set_handler};
pub use object::current;
pub use object::{File, share};
pub use open::{close, delete, open};
pub use position::{Whence, position, position_shared, seek, seek_shared};
pub use representation::{Functions, refused, register as register_representation};
#[cfg(fuzzing)]
pub use set_view::fuzz as fuzz_views;
pub use set_view::{byte_offset, get_view, set_info, set_view, type_extent};
#[cfg(fuzzing)]
pub use two_phase::fuzz as fuzz_access;

pub use size::{preallocate, set_atomicity, set_size, size, sync};
pub use split::{begin as begin_split, end as end_split};
