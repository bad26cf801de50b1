//! Datatypes by what is asked of their numbers: `MPI_Type_create_f90_*` and `MPI_Type_match_size`
//! (MPI-5.0 §19.1.9), with the kinds of gfortran.

use crate::body::Body;
use crate::{Datatype, Envelope, Predefined};

/// Decimal digits, decimal range, the real and the complex type, from the smallest up.
const REALS: [(i32, i32, Predefined, Predefined); 4] = [
    (6, 37, Predefined::Real4, Predefined::Complex8),
    (15, 307, Predefined::Real8, Predefined::Complex16),
    // gfortran's kind 10, which is C's long double.
    #[cfg(target_arch = "x86_64")]
    (
        18,
        4931,
        Predefined::LongDouble,
        Predefined::CLongDoubleComplex,
    ),
    #[cfg(not(target_arch = "x86_64"))]
    (33, 4931, Predefined::Real16, Predefined::Complex32),
    (33, 4931, Predefined::Real16, Predefined::Complex32),
];

const INTEGERS: [(i32, Predefined); 5] = [
    (2, Predefined::Integer1),
    (4, Predefined::Integer2),
    (9, Predefined::Integer4),
    (18, Predefined::Integer8),
    (38, Predefined::Integer16),
];

/// A class of types for [`match_size`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    Integer,
    Real,
    Complex,
}

/// The type of a class with `bytes`, if there is one (MPI_Type_match_size).
pub fn match_size(class: TypeClass, bytes: usize) -> Option<Predefined> {
    use Predefined::*;
    let types: &[Predefined] = match class {
        TypeClass::Integer => &[Integer1, Integer2, Integer4, Integer8, Integer16],
        TypeClass::Real => &[Real2, Real4, Real8, Real16],
        TypeClass::Complex => &[Complex4, Complex8, Complex16, Complex32],
    };
    types.iter().copied().find(|t| t.size() == bytes)
}

/// The pair of a value and an index for MAXLOC and MINLOC, if there is one (MPI_Type_get_value_index).
pub fn value_index(value: Predefined, index: Predefined) -> Option<Predefined> {
    use Predefined::*;
    match (value, index) {
        (Float, Int) => Some(FloatInt),
        (Double, Int) => Some(DoubleInt),
        (Long, Int) => Some(LongInt),
        (Int, Int) => Some(TwoInt),
        (Short, Int) => Some(ShortInt),
        (LongDouble, Int) => Some(LongDoubleInt),
        (Real, Real) => Some(TwoReal),
        (DoublePrecision, DoublePrecision) => Some(TwoDoublePrecision),
        (Integer, Integer) => Some(TwoInteger),
        _ => None,
    }
}

fn real(precision: Option<i32>, range: Option<i32>) -> Option<(Predefined, Predefined)> {
    let fits = |wanted: Option<i32>, has: i32| wanted.is_none_or(|wanted| wanted <= has);
    let kind = REALS
        .iter()
        .find(|kind| fits(precision, kind.0) && fits(range, kind.1));
    kind.map(|kind| (kind.2, kind.3))
}

impl Datatype {
    /// A real type of at least so many digits and such a range (MPI_Type_create_f90_real); none if there is none.
    pub fn fortran_real(precision: Option<i32>, range: Option<i32>) -> Option<Datatype> {
        let (real, _) = real(precision, range)?;
        Some(unnamed(Envelope::FortranReal { precision, range }, real))
    }

    /// The complex type of [`fortran_real`](Self::fortran_real) (MPI_Type_create_f90_complex).
    pub fn fortran_complex(precision: Option<i32>, range: Option<i32>) -> Option<Datatype> {
        let (_, complex) = real(precision, range)?;
        let envelope = Envelope::FortranComplex { precision, range };
        Some(unnamed(envelope, complex))
    }

    /// An integer type of at least so many digits (MPI_Type_create_f90_integer); none if there is none.
    pub fn fortran_integer(range: i32) -> Option<Datatype> {
        let (_, integer) = INTEGERS.iter().find(|(has, _)| range <= *has)?;
        Some(unnamed(Envelope::FortranInteger { range }, *integer))
    }
}

fn unnamed(envelope: Envelope, predefined: Predefined) -> Datatype {
    Datatype::derived(envelope, Body::of(predefined)).expect("a predefined type is small")
}
