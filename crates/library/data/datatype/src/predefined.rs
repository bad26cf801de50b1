//! The predefined datatypes of MPI-5.0 (§3.2.2, §6.9.2, §6.9.4), with their representation on 64-bit
//! Linux and the default kinds of gfortran.
//!
//! Every optional type of the standard is supported: `MPI_REAL2` is IEEE binary16, `MPI_REAL16` IEEE
//! binary128 (what gfortran's `real(16)` is), `MPI_INTEGER16` and `MPI_LOGICAL16` 128-bit integers. Their
//! arithmetic needs no hardware type.

use crate::reduce::{Complex, F16, F128, LongDouble, Pair};
use std::mem::{align_of, offset_of, size_of};

// C's `long` and `wchar_t` stand in the table by their size.
const _: () = assert!(size_of::<std::ffi::c_long>() == 8 && size_of::<usize>() == 8);

/// The groups by which MPI-5.0 §6.9.2 says which operation takes which type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// `MPI_CHAR` among them, which the standard leaves out and programs reduce all the same.
    CInteger,
    FortranInteger,
    Floating,
    Logical,
    Complex,
    Byte,
    MultiLanguage,
    /// Value and index, for MAXLOC and MINLOC (§6.9.4).
    Pair,
    /// Wide and Fortran characters and `MPI_PACKED`: no reduction takes them.
    Other,
}

macro_rules! elements {
    ($($element:ident: $representation:ty),* $(,)?) => {
        /// How one value of a predefined type lies in memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Element { $($element),* }

        impl Element {
            /// Bytes from one value to the next in an array.
            #[inline]
            pub const fn extent(self) -> usize {
                match self { $(Element::$element => size_of::<$representation>()),* }
            }

            pub const fn alignment(self) -> usize {
                match self { $(Element::$element => align_of::<$representation>()),* }
            }
        }
    };
}

elements! {
    I8: i8, I16: i16, I32: i32, I64: i64, I128: i128,
    U8: u8, U16: u16, U32: u32, U64: u64, U128: u128,
    F16: F16, F32: f32, F64: f64, LongDouble: LongDouble, F128: F128,
    ComplexF16: Complex<F16>, ComplexF32: Complex<f32>, ComplexF64: Complex<f64>,
    ComplexLongDouble: Complex<LongDouble>, ComplexF128: Complex<F128>,
    FloatInt: Pair<f32, i32>, DoubleInt: Pair<f64, i32>, LongInt: Pair<i64, i32>,
    IntInt: Pair<i32, i32>, ShortInt: Pair<i16, i32>, LongDoubleInt: Pair<LongDouble, i32>,
    FloatFloat: Pair<f32, f32>, DoubleDouble: Pair<f64, f64>,
}

impl Element {
    /// A pair's fields as (displacement, bytes), in the order of the type map.
    pub(crate) const fn fields(self) -> Option<[(usize, usize); 2]> {
        macro_rules! fields {
            ($value:ty, $index:ty) => {
                Some([
                    (0, size_of::<$value>()),
                    (offset_of!(Pair<$value, $index>, index), size_of::<$index>()),
                ])
            };
        }
        match self {
            Element::FloatInt => fields!(f32, i32),
            Element::DoubleInt => fields!(f64, i32),
            Element::LongInt => fields!(i64, i32),
            Element::IntInt => fields!(i32, i32),
            Element::ShortInt => fields!(i16, i32),
            Element::LongDoubleInt => fields!(LongDouble, i32),
            Element::FloatFloat => fields!(f32, f32),
            Element::DoubleDouble => fields!(f64, f64),
            _ => None,
        }
    }

    /// Whether one value's data is one run of bytes.
    pub(crate) const fn is_run(self) -> bool {
        match self.fields() {
            Some([value, index]) => index.0 == value.1,
            None => true,
        }
    }

    /// Bytes of data in one value: the extent without a pair's holes.
    #[inline]
    pub const fn size(self) -> usize {
        match self.fields() {
            Some([value, index]) => value.1 + index.1,
            None => self.extent(),
        }
    }
}

macro_rules! predefined {
    ($($name:ident $text:literal $group:ident $element:ident;)*) => {
        /// A predefined datatype. Its ABI number is the business of the C interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Predefined { $($name),* }

        impl Predefined {
            pub const ALL: &[Predefined] = &[$(Predefined::$name),*];

            /// The name the standard gives it (MPI-5.0 §7.8), such as `MPI_INT`.
            pub const fn name(self) -> &'static str {
                match self { $(Predefined::$name => concat!("MPI_", $text)),* }
            }

            #[inline]
            pub const fn group(self) -> Group {
                match self { $(Predefined::$name => Group::$group),* }
            }

            #[inline]
            pub const fn element(self) -> Element {
                match self { $(Predefined::$name => Element::$element),* }
            }
        }
    };
}

predefined! {
    Aint "AINT" MultiLanguage I64;
    Count "COUNT" MultiLanguage I64;
    Offset "OFFSET" MultiLanguage I64;
    Packed "PACKED" Other U8;
    Short "SHORT" CInteger I16;
    Int "INT" CInteger I32;
    Long "LONG" CInteger I64;
    LongLong "LONG_LONG" CInteger I64;
    UnsignedShort "UNSIGNED_SHORT" CInteger U16;
    Unsigned "UNSIGNED" CInteger U32;
    UnsignedLong "UNSIGNED_LONG" CInteger U64;
    UnsignedLongLong "UNSIGNED_LONG_LONG" CInteger U64;
    Float "FLOAT" Floating F32;
    CFloatComplex "C_FLOAT_COMPLEX" Complex ComplexF32;
    CxxFloatComplex "CXX_FLOAT_COMPLEX" Complex ComplexF32;
    Double "DOUBLE" Floating F64;
    CDoubleComplex "C_DOUBLE_COMPLEX" Complex ComplexF64;
    CxxDoubleComplex "CXX_DOUBLE_COMPLEX" Complex ComplexF64;
    Logical "LOGICAL" Logical U32;
    Integer "INTEGER" FortranInteger I32;
    Real "REAL" Floating F32;
    Complex "COMPLEX" Complex ComplexF32;
    DoublePrecision "DOUBLE_PRECISION" Floating F64;
    DoubleComplex "DOUBLE_COMPLEX" Complex ComplexF64;
    LongDouble "LONG_DOUBLE" Floating LongDouble;
    CLongDoubleComplex "C_LONG_DOUBLE_COMPLEX" Complex ComplexLongDouble;
    CxxLongDoubleComplex "CXX_LONG_DOUBLE_COMPLEX" Complex ComplexLongDouble;
    FloatInt "FLOAT_INT" Pair FloatInt;
    DoubleInt "DOUBLE_INT" Pair DoubleInt;
    LongInt "LONG_INT" Pair LongInt;
    TwoInt "2INT" Pair IntInt;
    ShortInt "SHORT_INT" Pair ShortInt;
    LongDoubleInt "LONG_DOUBLE_INT" Pair LongDoubleInt;
    TwoReal "2REAL" Pair FloatFloat;
    TwoDoublePrecision "2DOUBLE_PRECISION" Pair DoubleDouble;
    TwoInteger "2INTEGER" Pair IntInt;
    CBool "C_BOOL" Logical U8;
    CxxBool "CXX_BOOL" Logical U8;
    Wchar "WCHAR" Other I32;
    Int8 "INT8_T" CInteger I8;
    Uint8 "UINT8_T" CInteger U8;
    Char "CHAR" CInteger I8;
    SignedChar "SIGNED_CHAR" CInteger I8;
    UnsignedChar "UNSIGNED_CHAR" CInteger U8;
    Byte "BYTE" Byte U8;
    Int16 "INT16_T" CInteger I16;
    Uint16 "UINT16_T" CInteger U16;
    Int32 "INT32_T" CInteger I32;
    Uint32 "UINT32_T" CInteger U32;
    Int64 "INT64_T" CInteger I64;
    Uint64 "UINT64_T" CInteger U64;
    Logical1 "LOGICAL1" Logical U8;
    Integer1 "INTEGER1" FortranInteger I8;
    Character "CHARACTER" Other U8;
    Logical2 "LOGICAL2" Logical U16;
    Integer2 "INTEGER2" FortranInteger I16;
    Real2 "REAL2" Floating F16;
    Logical4 "LOGICAL4" Logical U32;
    Integer4 "INTEGER4" FortranInteger I32;
    Real4 "REAL4" Floating F32;
    Complex4 "COMPLEX4" Complex ComplexF16;
    Logical8 "LOGICAL8" Logical U64;
    Integer8 "INTEGER8" FortranInteger I64;
    Real8 "REAL8" Floating F64;
    Complex8 "COMPLEX8" Complex ComplexF32;
    Logical16 "LOGICAL16" Logical U128;
    Integer16 "INTEGER16" FortranInteger I128;
    Real16 "REAL16" Floating F128;
    Complex16 "COMPLEX16" Complex ComplexF64;
    Complex32 "COMPLEX32" Complex ComplexF128;
}

/// Size, extent, alignment and true extent by [`Predefined`]: every message looks at them.
static BYTES: [[u8; 4]; Predefined::ALL.len()] = {
    let mut table = [[0; 4]; Predefined::ALL.len()];
    let mut index = 0;
    while index < table.len() {
        let element = Predefined::ALL[index].element();
        let end = match element.fields() {
            Some([_, index]) => index.0 + index.1,
            None => element.size(),
        };
        table[index] = [
            element.size() as u8,
            element.extent() as u8,
            element.alignment() as u8,
            end as u8,
        ];
        index += 1;
    }
    table
};

impl Predefined {
    /// Bytes of data in one value.
    #[inline]
    pub fn size(self) -> usize {
        usize::from(BYTES[self as usize][0])
    }

    /// Bytes from one value to the next in an array.
    #[inline]
    pub fn extent(self) -> usize {
        usize::from(BYTES[self as usize][1])
    }

    #[inline]
    pub fn alignment(self) -> usize {
        usize::from(BYTES[self as usize][2])
    }

    /// Bytes from the beginning of the first field to the end of the last.
    #[inline]
    pub(crate) fn true_extent(self) -> usize {
        usize::from(BYTES[self as usize][3])
    }
}
