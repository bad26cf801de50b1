//! How the ABI's enumerations and zeroed values are written down.

/// A C enumeration: an integer type and its constants.
macro_rules! enumeration {
    ($(#[$meta:meta])* $name:ident: $repr:ty { $($(#[$note:meta])* $constant:ident = $value:expr,)* }) => {
        $(#[$meta])*
        pub type $name = $repr;
        $($(#[$note])* pub const $constant: $name = $value;)*
    };
}

/// `Default` as all bytes zero, with the size of the type asserted.
macro_rules! zeroed {
    ($($name:ty: $size:expr,)*) => {
        $(
            const _: () = assert!(size_of::<$name>() == $size);

            impl Default for $name {
                fn default() -> Self {
                    // SAFETY: the ABI's types hold integers, raw pointers and optional function pointers only, for all
                    // of which zero is a valid value.
                    unsafe { core::mem::zeroed() }
                }
            }
        )*
    };
}

pub(crate) use {enumeration, zeroed};
