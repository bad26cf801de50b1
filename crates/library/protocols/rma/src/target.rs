//! What an access is to, and why it did not get there.

use std::ops::Range;

use weft_datatype::Datatype;
use weft_reserve::NoMemory;
use weft_transport::Lost;

/// Data at a target: `offset` bytes from the beginning of its part, an address for what is attached.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub rank: u32,
    pub offset: i64,
    pub datatype: &'a Datatype,
    pub count: usize,
}

impl Target<'_> {
    /// The bytes that its data touch, from the beginning of the part on, before the offset.
    pub(crate) fn span(&self) -> Result<Range<isize>, Fault> {
        let span = self.datatype.span(self.count).map_err(|_| Fault::Range)?;
        // Elements that overlap may be more bytes than they span.
        let bytes = self.datatype.size().checked_mul(self.count);
        bytes.map(|_| span).ok_or(Fault::Range)
    }

    /// Whether its data lie in a part of so many bytes; none for one that is told by addresses, which only its process knows.
    pub fn check(&self, bytes: Option<u64>) -> Result<(), Fault> {
        let span = self.span()?;
        bytes.map_or(Ok(()), |bytes| check_within(self.offset, span, bytes))
    }
}

/// Whether a span at an offset lies in so many bytes.
#[inline]
pub(crate) fn check_within(offset: i64, span: Range<isize>, bytes: u64) -> Result<(), Fault> {
    if span.is_empty() {
        return Ok(());
    }
    let low = offset.checked_add(span.start as i64);
    let high = offset.checked_add(span.end as i64);
    match (low, high) {
        (Some(low), Some(high)) if low >= 0 && high as u64 <= bytes => Ok(()),
        _ => Err(Fault::Range),
    }
}

/// Why memory was not reached.
#[derive(Debug)]
pub enum Fault {
    /// It is not part of the window.
    Range,
    /// A process is gone, its locks with it.
    Lost(Lost),
    /// There is no memory here for a copy of the data.
    NoMemory,
}

impl From<NoMemory> for Fault {
    fn from(_: NoMemory) -> Fault {
        Fault::NoMemory
    }
}

impl From<Lost> for Fault {
    fn from(lost: Lost) -> Fault {
        Fault::Lost(lost)
    }
}
