//! The special addresses of other libraries' programs: each common block, or variable, and what its integers are.

/// Variables of integers, and of characters, which stand for no arguments. Each is as long as in the library that the program
/// was linked to: it may have a copy of it in its own memory, which is no longer.
macro_rules! blocks {
    (
        integers { $($block:ident: $meanings:expr;)* }
        others { $($other:ident: $other_meanings:expr;)* }
        texts { $($text:ident: $characters:literal;)* }
    ) => {
        $(
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            static mut $block: [c_int; $meanings.len()] = [0; $meanings.len()];
        )*
        $(
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            static mut $text: [c_char; $characters] = [0; $characters];
        )*
        unsafe extern "C" {$(
            #[allow(dead_code)]
            static $other: [c_int; $other_meanings.len()];
        )*}

        /// Which integer of a block stands at an address.
        #[inline(always)]
        pub fn integer_at(address: *const c_void) -> Option<usize> {
            $(
                let offset = address.addr().wrapping_sub((&raw const $block).addr());
                if offset < size_of::<[c_int; $meanings.len()]>() {
                    return Some($meanings[offset / size_of::<c_int>()]);
                }
            )*
            $(
                let offset = address.addr().wrapping_sub((&raw const $other).addr());
                if offset < size_of::<[c_int; $other_meanings.len()]>() {
                    return Some($other_meanings[offset / size_of::<c_int>()]);
                }
            )*
            None
        }

        /// Whether an address is that of `MPI_ARGV_NULL` or `MPI_ARGVS_NULL`.
        pub fn is_no_arguments(address: *const c_void) -> bool {
            $(
                let offset = address.addr().wrapping_sub((&raw const $text).addr());
                if offset < $characters {
                    return true;
                }
            )*
            false
        }
    };
}

pub(crate) use blocks;
