//! Buffer arguments.

use weft_engine::Span;
use weft_error::Result;
use weft_memory::Memory;

use super::datatype::{self, TypeId};

/// A buffer argument: address, count, datatype.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    pub address: *mut u8,
    pub count: i64,
    pub datatype: TypeId,
}

impl Buffer {
    #[inline]
    pub fn plain(self) -> Option<Span> {
        let bytes = datatype::plain_bytes(self.address, self.count, self.datatype)?;
        let base = self.address;
        Some(Span { base, bytes })
    }

    #[inline]
    pub fn memory(&self) -> Result<Memory> {
        datatype::memory(self.address, self.count, self.datatype)
    }
}
