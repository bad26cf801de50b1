//! Handles of 32 bits, for C functions that hand handles over as integers.

use weft_file_calls as file;
use weft_handle::kind;
use weft_messages::compound;
use weft_objects::{comm, group, handler, info, op, session, types};
use weft_process::engine::started;
use weft_window as window;

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
