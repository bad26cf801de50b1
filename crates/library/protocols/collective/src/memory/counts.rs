//! Arrays of counts and displacements, in the width that the call had.

/// An array of counts or displacements as the C caller passed it.
#[derive(Clone, Copy)]
pub enum Counts<'a> {
    Int(&'a [i32]),
    Large(&'a [i64]),
}

impl<'a> From<&'a [i32]> for Counts<'a> {
    fn from(values: &'a [i32]) -> Counts<'a> {
        Counts::Int(values)
    }
}

impl<'a> From<&'a [i64]> for Counts<'a> {
    fn from(values: &'a [i64]) -> Counts<'a> {
        Counts::Large(values)
    }
}

impl Counts<'_> {
    #[inline]
    pub fn at(&self, index: usize) -> i64 {
        match self {
            Counts::Int(values) => i64::from(values[index]),
            Counts::Large(values) => values[index],
        }
    }

    #[inline]
    pub fn are_zero(&self) -> bool {
        match self {
            Counts::Int(values) => values.iter().all(|&value| value == 0),
            Counts::Large(values) => values.iter().all(|&value| value == 0),
        }
    }

    fn len(&self) -> usize {
        match self {
            Counts::Int(values) => values.len(),
            Counts::Large(values) => values.len(),
        }
    }
}

/// Such an array for as long as an operation takes.
pub(super) enum HeldCounts<'a> {
    Passed(Counts<'a>),
    Copied(Box<[i64]>),
}

impl HeldCounts<'_> {
    pub fn at(&self, index: usize) -> i64 {
        match self {
            HeldCounts::Passed(counts) => counts.at(index),
            HeldCounts::Copied(values) => values[index],
        }
    }

    pub fn len(&self) -> usize {
        match self {
            HeldCounts::Passed(counts) => counts.len(),
            HeldCounts::Copied(values) => values.len(),
        }
    }

    /// The caller may take the array back.
    pub fn into_owned(self) -> HeldCounts<'static> {
        HeldCounts::Copied(match self {
            HeldCounts::Passed(counts) => (0..counts.len()).map(|index| counts.at(index)).collect(),
            HeldCounts::Copied(values) => values,
        })
    }
}
