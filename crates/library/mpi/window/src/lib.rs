//! Windows: memory that the processes of a group let each other access (MPI-5.0 chapter 12).
//!
//! The memory, its locks and the atomic updates are `weft_rma`'s; here are handles, arguments, hints and epochs. Every
//! access has moved its data when its call returns. So what ends an epoch has only to order memory and to tell the other
//! processes: fence is a barrier, post and complete are empty messages, on a communicator of the window's own, and a lock is
//! let go.

mod accumulate;
mod active;
mod attribute;
mod create;
mod direct;
mod epoch;
mod errors;
mod far;
mod figures;
mod free;
mod hints;
mod info;
mod object;
mod passive;
mod transfer;
mod wishes;

pub use accumulate::{accumulate, compare_and_swap, fetch_and_op, get_accumulate};
pub use active::{Assertions, complete, fence, post, start, test, wait};
pub use attribute::{Attribute, value};
pub use create::allocate_private;
pub use create::{
    SharedPart, allocate, allocate_shared, attach, create, create_dynamic, detach, shared_query,
};
pub use far::Where;
pub use figures::Flavor;
pub use free::free;
pub use info::{info, set_info};
pub use object::current;
pub use object::{Window, find, share};
pub use passive::{Locking, flush, flush_all, lock, lock_all, sync, unlock, unlock_all};
pub use transfer::{Form, Plain, Requested, TargetBuffer, get, put};
#[cfg(fuzzing)]
pub use wishes::fuzz;
