//! Memory as packed bytes.

use weft_memory::Memory;
use weft_reserve::NoMemory;

use super::{Blocks, Scratch, copy, window};

/// Memory as packed bytes that others may copy from or that may be copied into: where it is, if it is contiguous, else
/// scratch.
pub(crate) struct Packed {
    contiguous: Option<Memory>,
    scratch: Scratch,
    bytes: usize,
}

impl Packed {
    pub fn room_for(memory: &Memory) -> Result<Packed, NoMemory> {
        let contiguous = memory.layout.is_none().then(|| memory.clone());
        Packed::new(contiguous, memory.bytes)
    }

    pub fn of(memory: &Memory) -> Result<Packed, NoMemory> {
        let packed = Packed::room_for(memory)?;
        if packed.contiguous.is_none() {
            copy(memory, &packed.memory());
        }
        Ok(packed)
    }

    /// Blocks of one length, one after the other.
    pub fn of_blocks(blocks: &dyn Blocks, ranks: usize) -> Result<Packed, NoMemory> {
        let bytes = blocks.block(0).bytes;
        let whole = blocks.whole().filter(|whole| whole.layout.is_none());
        let packed = Packed::new(whole, bytes * ranks)?;
        if packed.contiguous.is_none() {
            let all = packed.memory();
            for rank in 0..ranks {
                let place = window(&all, rank * bytes..(rank + 1) * bytes);
                copy(&blocks.block(rank), &place);
            }
        }
        Ok(packed)
    }

    fn new(contiguous: Option<Memory>, bytes: usize) -> Result<Packed, NoMemory> {
        let scratch = Scratch::new(if contiguous.is_some() { 0 } else { bytes })?;
        Ok(Packed {
            contiguous,
            scratch,
            bytes,
        })
    }

    /// Holds until it moves, as scratch does.
    pub fn memory(&self) -> Memory {
        match &self.contiguous {
            Some(memory) => memory.clone(),
            None => self.scratch.memory(self.bytes),
        }
    }

    /// Puts what was copied into it to where it belongs.
    pub fn unpack(&self, memory: &Memory) {
        if self.contiguous.is_none() {
            copy(&self.memory(), memory);
        }
    }
}
