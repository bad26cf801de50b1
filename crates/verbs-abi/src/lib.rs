//! The libibverbs ABI as Rust types, its inline calls, and loading by `dlopen`.
