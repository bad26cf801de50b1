//! The predefined attributes of a communicator (MPI-5.0 §9.1.2).

use weft_error::{Result, codes};
use weft_handle::CommId;
use weft_process::job::job;

use crate::constants::{ANY_SOURCE, PROC_NULL, TAG_UB};

/// A predefined attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    TagUb,
    Host,
    Io,
    WtimeIsGlobal,
    UniverseSize,
    AppNum,
    LastUsedCode,
}

/// Where an attribute's value stands, for as long as the process lives; none if it has none.
pub fn value(comm: CommId, attribute: Attribute) -> Result<Option<*const i32>> {
    super::table::find(comm)?;
    let job = job();
    let value = match attribute {
        Attribute::TagUb => TAG_UB,
        Attribute::Host => PROC_NULL,
        // Every process has the input and output of C.
        Attribute::Io => ANY_SOURCE,
        // One clock serves all processes of a host.
        Attribute::WtimeIsGlobal => 1,
        Attribute::UniverseSize => match job.universe_size {
            Some(size) => size as i32,
            None => return Ok(None),
        },
        Attribute::AppNum if job.app_num < 0 => return Ok(None),
        Attribute::AppNum => job.app_num,
        Attribute::LastUsedCode => return Ok(Some(codes::last_used())),
    };
    Ok(Some(place(attribute, value)))
}

/// The one place of an attribute's value that does not change.
fn place(attribute: Attribute, value: i32) -> &'static i32 {
    use std::sync::OnceLock;
    static PLACES: [OnceLock<i32>; 7] = [const { OnceLock::new() }; 7];
    PLACES[attribute as usize].get_or_init(|| value)
}
