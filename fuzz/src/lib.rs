//! What the targets share.

/// What is left of a fuzzer's input.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    /// The next byte; `None` at the end.
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number of so many bytes, the highest first; what lies behind the end counts as 0.
    pub fn number(&mut self, bytes: u32) -> u64 {
        (0..bytes).fold(0, |number, _| {
            number << 8 | u64::from(self.byte().unwrap_or(0))
        })
    }
}
