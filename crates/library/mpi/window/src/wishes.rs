//! What the processes of a window to be made ask for, as they have told each other.

use weft_error::told::Reader;
use weft_error::{Class, Result, argument};

use super::figures::Flavor;
use super::hints::Hints;

/// What all processes ask for, by rank.
#[derive(Debug)]
pub struct Wishes {
    pub hints: Hints,
    pub sizes: Vec<i64>,
    pub units: Vec<i64>,
    /// The shared memory is one piece.
    pub whole: bool,
}

impl Wishes {
    pub const WORDS: usize = 3;

    /// Of the words of all, with this process's `hints`, for a window of a flavor.
    pub fn of_words(
        told: &[[i64; Wishes::WORDS]],
        mut hints: Hints,
        flavor: Flavor,
    ) -> Result<Wishes> {
        let (mut sizes, mut units) = (Vec::new(), Vec::new());
        // The hint is to be the same on all; where it is not, the stricter counts.
        let (mut contiguous, mut total) = (false, Some(0i64));
        for mut words in Reader::of_all(told) {
            let size = words.length("size of a part of a window")? as i64;
            total = total.and_then(|sum| sum.checked_add(size));
            sizes.push(size);
            units.push(words.within(1..=i64::MAX, "unit of displacements")?);
            contiguous |= words.next("hint")? == 0;
        }
        if total.is_none() {
            let what = "the sizes together are larger than the address space";
            return Err(argument(Class::NoMem, "size", what));
        }
        let may_differ = matches!(flavor, Flavor::Allocate | Flavor::Shared);
        hints.noncontiguous = !contiguous && may_differ;
        Ok(Wishes {
            hints,
            sizes,
            units,
            whole: flavor == Flavor::Shared && contiguous,
        })
    }

    /// Where a rank's part of one piece begins.
    pub fn before(&self, rank: u32) -> u64 {
        self.sizes[..rank as usize]
            .iter()
            .map(|&size| size as u64)
            .sum()
    }

    pub fn total(&self) -> u64 {
        self.before(self.sizes.len() as u32)
    }
}

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    let told = words.as_chunks().0;
    for flavor in [Flavor::Shared, Flavor::Allocate] {
        if let Ok(wishes) = Wishes::of_words(told, Hints::default(), flavor) {
            assert!(wishes.total() <= i64::MAX as u64 && wishes.sizes.len() == told.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_ask_for_is_bounded() {
        let ask = |told: &[_]| Wishes::of_words(told, Hints::default(), Flavor::Shared);
        let wishes = ask(&[[8, 1, 1], [16, 4, 0]]).unwrap();
        assert_eq!(
            (wishes.total(), wishes.before(1), wishes.whole),
            (24, 8, true)
        );
        for lie in [[-1, 1, 0], [i64::MIN, 1, 0], [8, 0, 0], [8, -1, 0]] {
            let error = ask(&[[8, 1, 0], lie]).unwrap_err();
            assert!(error.to_string().starts_with("rank 1 told "), "{error}");
        }
        let error = ask(&[[i64::MAX, 1, 0], [1, 1, 0]]).unwrap_err();
        assert_eq!(error.class, Class::NoMem);
    }
}
