//! Buffer arguments.

use weft_engine::Span;
use weft_memory::Memory;

use super::datatype::{self, TypeId};
use crate::error::Result;

/// A buffer argument: address, count, datatype.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    pub address: *mut u8,
    pub count: i64,
    pub datatype: TypeId,
}

impl Buffer {
    #[inline]
    pub(crate) fn plain(&self) -> Option<Span> {
        let bytes = datatype::plain_bytes(self.address, self.count, self.datatype)?;
        let base = self.address;
        Some(Span { base, bytes })
    }

    /// Whether it is right and holds nothing, as far as a glance tells: a derived datatype takes a longer look.
    #[inline]
    pub(crate) fn is_nothing(&self) -> bool {
        self.count == 0 && datatype::is_plain(self.datatype)
    }

    #[inline]
    pub fn memory(&self) -> Result<Memory> {
        datatype::memory(self.address, self.count, self.datatype)
    }
}
