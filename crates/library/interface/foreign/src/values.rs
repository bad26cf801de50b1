//! Kinds whose values are constants, as tables of them: the other ABI's value, and the standard's name.

/// Kinds with values of their own. A number without a name stays as it is, unless it has a meaning in the other ABI.
#[macro_export]
macro_rules! values {
    ($($kind:ident { $($foreign:literal = $standard:ident,)* })*) => {$(
        pub struct $kind;

        impl $crate::convert::Kind for $kind {
            type Foreign = ::std::ffi::c_int;
            type Standard = ::std::ffi::c_int;
            const UNTOUCHED: ::std::ffi::c_int = $crate::convert::NONE;

            #[inline]
            fn to_standard(foreign: ::std::ffi::c_int) -> ::std::ffi::c_int {
                match foreign {
                    $($foreign => $standard,)*
                    $(#[allow(unreachable_patterns)] $standard => $crate::convert::NONE,)*
                    other => other,
                }
            }

            #[inline]
            fn to_foreign(standard: ::std::ffi::c_int) -> ::std::ffi::c_int {
                match standard {
                    // Of several numbers with one meaning the first is given out.
                    $(#[allow(unreachable_patterns)] $standard => $foreign,)*
                    other => other,
                }
            }
        }
    )*};
}

/// Kinds whose values are sets of bits. A bit without a name becomes one that has none in the other ABI.
#[macro_export]
macro_rules! bits {
    ($($kind:ident { $($foreign:literal = $standard:ident,)* })*) => {$(
        pub struct $kind;

        impl $crate::convert::Kind for $kind {
            type Foreign = ::std::ffi::c_int;
            type Standard = ::std::ffi::c_int;
            const UNTOUCHED: ::std::ffi::c_int = $crate::convert::NONE;

            fn to_standard(foreign: ::std::ffi::c_int) -> ::std::ffi::c_int {
                let mut known = 0;
                $(if foreign & $foreign != 0 {
                    known |= $standard;
                })*
                match foreign & !($($foreign |)* 0) {
                    0 => known,
                    _ => known | $crate::convert::UNNAMED_BIT,
                }
            }

            fn to_foreign(standard: ::std::ffi::c_int) -> ::std::ffi::c_int {
                let mut known = 0;
                $(if standard & $standard != 0 {
                    known |= $foreign;
                })*
                known
            }
        }
    )*};
}
