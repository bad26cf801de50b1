//! Handles of 32 bits, for C functions that hand handles over as integers.

use crate::handle::kind;
use crate::messages::compound;
use crate::objects::{comm, group, handler, info, op, session, types};
use crate::process::engine::started;
use crate::{file, window};

/// The live handle of a kind at an index: the inverse of taking a handle's lower 32 bits.
pub fn handle_at(kind: u8, index: u32) -> Option<u64> {
    match kind {
        kind::INFO => info::current(index),
        kind::ERRHANDLER => handler::current(index),
        kind::SESSION => session::current(index),
        kind::COMM => comm::current(index),
        kind::GROUP => group::current(index),
        kind::DATATYPE => types::current(index),
        kind::OP => op::current(index),
        kind::WINDOW => window::current(index),
        kind::FILE => file::current(index),
        kind::COMPOUND => compound::current(index),
        kind::REQUEST | kind::MESSAGE => {
            let id = started()?.current(index)?;
            Some(id.bits() | u64::from(kind) << 60)
        }
        _ => None,
    }
}
