//! What every way of writing a view's runs is made of: data packed, and a call for each run.

use std::io;
use std::ops::{ControlFlow, Range};

use weft_memory::Memory;

use crate::descriptor::Descriptor;
use crate::view::View;

/// Where data that are not contiguous are packed.
#[derive(Default)]
pub struct Stage(Vec<u8>);

impl Stage {
    /// Packed bytes of memory, as they lie there if they are contiguous.
    ///
    /// # Safety
    /// `inside` is within the packed bytes of `memory`, which is valid for reads while the result is used.
    pub unsafe fn packed<'a>(&'a mut self, memory: &Memory, inside: Range<usize>) -> &'a [u8] {
        if inside.is_empty() {
            return &[];
        }
        if memory.layout.is_none() {
            let from = memory.base.wrapping_add(inside.start);
            // SAFETY: contiguous memory, by this function's contract.
            return unsafe { std::slice::from_raw_parts(from, inside.len()) };
        }
        self.0.resize(inside.len(), 0);
        // SAFETY: by this function's contract.
        unsafe { memory.read(inside.start, &mut self.0) };
        &self.0
    }
}

/// Writes data to as many positions of a view, a call for each run.
pub fn write_runs(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    data: &[u8],
) -> io::Result<()> {
    let mut outcome = Ok(());
    view.visit(positions, |run| {
        outcome = descriptor.write_at(run.offset, &data[run.at..run.at + run.bytes]);
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    outcome
}
