//! The keys by which one piece of memory is reached, by one adapter each.

use crate::selection::MOST_RAILS;

/// By the place of the adapter. They travel as two words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys([u32; MOST_RAILS]);

const _: () = assert!(MOST_RAILS == 4, "two keys to a word");

impl Keys {
    pub fn of([first, second]: [u64; 2]) -> Keys {
        let both = |word: u64| [word as u32, (word >> 32) as u32];
        let ([a, b], [c, d]) = (both(first), both(second));
        Keys([a, b, c, d])
    }

    pub fn words(&self) -> [u64; 2] {
        let [a, b, c, d] = self.0.map(u64::from);
        [a | b << 32, c | d << 32]
    }

    pub fn get(&self, place: usize) -> u32 {
        self.0[place]
    }

    pub fn set(&mut self, place: usize, key: u32) {
        self.0[place] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let mut keys = Keys::default();
        for place in 0..MOST_RAILS {
            keys.set(place, u32::MAX - place as u32);
        }
        assert_eq!(Keys::of(keys.words()), keys);
        assert_eq!(keys.get(3), u32::MAX - 3);
    }
}
