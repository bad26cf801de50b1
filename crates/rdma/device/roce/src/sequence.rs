//! Packet sequence numbers: 24 bits on the wire, 64 inside, so that nothing inside wraps.

pub const PSN_MASK: u32 = 0xff_ffff;

/// Places in one direction of a connection, counted in packets from its first; position 0 has the initial PSN.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    initial: u32,
}

impl Sequence {
    pub fn new(initial_psn: u32) -> Sequence {
        Sequence {
            initial: initial_psn & PSN_MASK,
        }
    }

    pub fn psn(self, position: u64) -> u32 {
        (self.initial.wrapping_add(position as u32)) & PSN_MASK
    }

    /// The position nearest to `near` that has this PSN: within 2^23 to either side (IBA 9.7.3.1). None where that
    /// would lie before the first.
    pub fn position(self, psn: u32, near: u64) -> Option<u64> {
        let forward = psn.wrapping_sub(self.psn(near)) & PSN_MASK;
        if forward < 1 << 23 {
            Some(near + u64::from(forward))
        } else {
            near.checked_sub(u64::from((1 << 24) - forward))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_place_across_the_wrap() {
        let sequence = Sequence::new(0xff_fffe);
        assert_eq!(sequence.psn(1), 0xff_ffff);
        assert_eq!(sequence.psn(2), 0);
        assert_eq!(sequence.psn((1 << 24) + 3), 1);
        assert_eq!(sequence.position(0, 0), Some(2));
        assert_eq!(sequence.position(0xff_fffd, 0), None);
        assert_eq!(sequence.position(0xff_fffe, 5), Some(0));
        let near = (7 << 24) + 1;
        for offset in [0, 1, 2, (1 << 23) - 1] {
            assert_eq!(
                sequence.position(sequence.psn(near + offset), near),
                Some(near + offset)
            );
            assert_eq!(
                sequence.position(sequence.psn(near - offset), near),
                Some(near - offset)
            );
        }
    }
}
