//! A routine's form, and what a parameter becomes in it.

use proc_macro2::TokenStream;
use syn::Ident;

/// Which of a function's routines.
#[derive(Clone, Copy, Default)]
pub struct Form {
    /// Its counts are C's of `MPI_X_c`.
    pub large: bool,
    /// Of `mpi_f08`, and not the same as that of `mpif.h`.
    pub f08: bool,
    /// Choice buffers come as descriptors.
    pub described: bool,
    /// BIND(C): strings too.
    pub bind_c: bool,
    /// Its name is that of a form whose counts are not large.
    pub plain_name: bool,
}

/// What a parameter of C's is in a routine.
pub struct Argument {
    /// The routine's argument; none where Fortran has none.
    pub parameter: Option<Ident>,
    /// The hidden length of a string.
    pub length: Option<Ident>,
    pub before: TokenStream,
    pub passed: TokenStream,
    /// `code` is what C returned.
    pub after: TokenStream,
}

impl Argument {
    pub fn new(
        name: &Ident,
        before: TokenStream,
        passed: TokenStream,
        after: TokenStream,
    ) -> Argument {
        Argument {
            parameter: Some(name.clone()),
            length: None,
            before,
            passed,
            after,
        }
    }
}

pub fn rust_type(text: &str) -> TokenStream {
    text.parse().expect("the table's types are Rust types")
}
