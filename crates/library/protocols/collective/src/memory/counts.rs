//! Arrays of counts and displacements, in the width that the call had.

use std::borrow::Cow;

/// An array of counts or displacements as the C caller passed it, or a copy.
#[derive(Clone)]
pub enum Counts<'a> {
    Int(Cow<'a, [i32]>),
    Large(Cow<'a, [i64]>),
}

impl<'a> From<&'a [i32]> for Counts<'a> {
    fn from(values: &'a [i32]) -> Counts<'a> {
        Counts::Int(values.into())
    }
}

impl<'a> From<&'a [i64]> for Counts<'a> {
    fn from(values: &'a [i64]) -> Counts<'a> {
        Counts::Large(values.into())
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

    pub(super) fn len(&self) -> usize {
        match self {
            Counts::Int(values) => values.len(),
            Counts::Large(values) => values.len(),
        }
    }

    /// The caller may take the array back.
    pub fn into_owned(self) -> Counts<'static> {
        match self {
            Counts::Int(values) => Counts::Int(values.into_owned().into()),
            Counts::Large(values) => Counts::Large(values.into_owned().into()),
        }
    }
}
