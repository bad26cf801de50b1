//! How a function of Rust's gets the name and the version of a C symbol, for libraries that stand in for rdma-core's.
//!
//! The assembler names a version with `.symver SYMBOL, NAME@@NODE`, where SYMBOL must be defined in the same object. So
//! each exported symbol is a jump of its own, a *trampoline*. The library's build script declares the nodes by a version
//! script of empty ones; rustc's own script, with which the linker (rust-lld) merges it, hides the trampolines' names.
//! Posting and polling go through pointers in the context and meet no trampoline.

/// Exports functions: `"@@", "name", "NODE" => function;`. A single `@` is for a version that programs find when they were
/// linked to it, but that new ones are not linked to.
#[macro_export]
macro_rules! export_versioned {
    ($($at:literal, $name:literal, $node:literal => $function:path;)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            core::arch::global_asm!(
                $crate::versioned_symbol!($at, $name, $node, ".text", "ax", "function", "jmp {function}"),
                function = sym $function,
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::global_asm!(
                $crate::versioned_symbol!($at, $name, $node, ".text", "ax", "function", "b {function}"),
                function = sym $function,
            );
        )*
    };
}

/// The assembler text of one versioned symbol. The name it hangs on must have no `@` in it.
#[macro_export]
macro_rules! versioned_symbol {
    ($at:literal, $name:literal, $node:literal, $section:literal, $flags:literal, $type:literal, $body:literal) => {
        concat!(
            ".pushsection ",
            $section,
            ".",
            $name,
            ".",
            $node,
            ",\"",
            $flags,
            "\",@progbits\n",
            ".p2align 4\n",
            ".globl ",
            $name,
            ".",
            $node,
            "\n",
            ".type ",
            $name,
            ".",
            $node,
            ",@",
            $type,
            "\n",
            $name,
            ".",
            $node,
            ":\n",
            $body,
            "\n",
            ".size ",
            $name,
            ".",
            $node,
            ", .-",
            $name,
            ".",
            $node,
            "\n",
            ".symver ",
            $name,
            ".",
            $node,
            ", ",
            $name,
            $at,
            $node,
            "\n",
            ".popsection\n",
        )
    };
}
