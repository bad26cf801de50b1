//! What the kernels ask of a value.

/// Values with an order (MAX, MIN, MAXLOC, MINLOC).
pub(crate) trait Ordered: Copy {
    /// Whether `self > other`; false if they are unordered.
    fn exceeds(self, other: Self) -> bool;
    fn equals(self, other: Self) -> bool;
}

/// Values that can be added and multiplied. Integers wrap, as C's unsigned ones do.
pub(crate) trait Number: Copy {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

/// Words of bits, which are truth values as well: any non-zero word is true, and 1 is written for true (C,
/// and gfortran's LOGICAL).
pub(crate) trait Word: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn exclusive(self, other: Self) -> Self;
    fn is_true(self) -> bool;
    fn from_truth(truth: bool) -> Self;
}

/// Floating-point numbers, as the parts of a complex number.
pub(crate) trait Real: Number {
    /// In which complex numbers of this type are multiplied; the product is rounded at the end.
    type Product: Real;
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    fn difference(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    /// The magnitude of `self` with the sign of `sign`.
    fn with_sign_of(self, sign: Self) -> Self;
    fn widened(self) -> Self::Product;
    fn rounded(wide: Self::Product) -> Self;
}

/// For numbers that are multiplied as they are.
macro_rules! own_product {
    () => {
        type Product = Self;

        #[inline(always)]
        fn widened(self) -> Self {
            self
        }

        #[inline(always)]
        fn rounded(wide: Self) -> Self {
            wide
        }
    };
}
pub(super) use own_product;

macro_rules! ordered {
    ($($t:ty)*) => {$(
        impl Ordered for $t {
            #[inline(always)]
            fn exceeds(self, other: $t) -> bool {
                self > other
            }

            #[inline(always)]
            fn equals(self, other: $t) -> bool {
                self == other
            }
        }
    )*};
}

macro_rules! integer_number {
    ($($t:ty)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: $t) -> $t {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn product(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
        }
    )*};
}

macro_rules! word {
    ($($t:ty)*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn and(self, other: $t) -> $t {
                self & other
            }

            #[inline(always)]
            fn or(self, other: $t) -> $t {
                self | other
            }

            #[inline(always)]
            fn exclusive(self, other: $t) -> $t {
                self ^ other
            }

            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0
            }

            #[inline(always)]
            fn from_truth(truth: bool) -> $t {
                <$t>::from(truth)
            }
        }
    )*};
}

macro_rules! float {
    ($($t:ident)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: $t) -> $t {
                self + other
            }

            #[inline(always)]
            fn product(self, other: $t) -> $t {
                self * other
            }
        }

        impl Real for $t {
            own_product!();

            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const INFINITY: $t = $t::INFINITY;

            #[inline(always)]
            fn difference(self, other: $t) -> $t {
                self - other
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }

            fn is_infinite(self) -> bool {
                $t::is_infinite(self)
            }

            fn with_sign_of(self, sign: $t) -> $t {
                self.copysign(sign)
            }
        }
    )*};
}

ordered!(i8 i16 i32 i64 i128 u8 u16 u32 u64 f32 f64);
integer_number!(i8 i16 i32 i64 i128 u8 u16 u32 u64);
word!(u8 u16 u32 u64 u128);
float!(f32 f64);
