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

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut seed = self.below(1 << 30) as u32;
        let next = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        (0..count).map(next).collect()
    }
}
