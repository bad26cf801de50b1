//! Further names of functions.

/// `function: "name" "name" ...;`
macro_rules! names {
    ($($function:path: $($name:literal)*;)*) => {$(
        ::std::arch::global_asm!(
            $(concat!(".globl ", $name, "\n.type ", $name, ", @function\n.set ", $name, ", {function}"),)*
            function = sym $function,
        );
    )*};
}

pub(crate) use names;
