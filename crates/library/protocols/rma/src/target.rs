//! What an access is to, and why it did not get there.

use weft_datatype::Datatype;
use weft_transport::Lost;

/// Data at a target: `offset` bytes from the beginning of its part, an address for what is attached.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub rank: u32,
    pub offset: i64,
    pub datatype: &'a Datatype,
    pub count: usize,
}

/// Why memory was not reached.
#[derive(Debug)]
pub enum Fault {
    /// It is not part of the window.
    Range,
    /// A process is gone, its locks with it.
    Lost(Lost),
}

impl From<Lost> for Fault {
    fn from(lost: Lost) -> Fault {
        Fault::Lost(lost)
    }
}
