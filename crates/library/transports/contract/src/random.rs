//! Random numbers for tests.

/// A small generator of random numbers (xorshift64*), so that a failure can be repeated by its seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    /// By words: tests are not optimised.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 4);
        while bytes.len() < count {
            bytes.extend_from_slice(&(self.below(1 << 30) as u32).to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}
