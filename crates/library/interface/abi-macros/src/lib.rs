//! `#[mpi(Name)]`: from an ordinary Rust function to `PMPI_Name`, its alias `MPI_Name`, and the `_c` pair.
//!
//! The crate that uses it has a module `entry` with the run-time half: `FromC` (a parameter from its C form),
//! `enter` (is the library usable now), `raise` (an error to its handler) and `unsupported`.
#![forbid(unsafe_code)]

mod check;
mod entry;
mod foreign;
mod fortran;
mod unsupported;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function the body of `MPI_Name` (and of `MPI_Name_c` where the standard has it).
///
/// The parameters have the names of the standard, in its order, and types that implement `FromC` for the C type of
/// each form; a parameter that only the large-count form has is an `Option`. The function returns `Result<()>`, or
/// the C result itself where that is no error code. A mismatch is a compile error at the parameter.
#[proc_macro_attribute]
pub fn mpi(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let name = parse_macro_input!(attribute as syn::Ident);
    let body = parse_macro_input!(item as syn::ItemFn);
    let expanded =
        check::signature(&name, &body.sig).map(|function| entry::expand(function, &body));
    let mut tokens = expanded.unwrap_or_else(syn::Error::into_compile_error);
    // The function itself stays whatever was found, so that one mistake is one error. Its parameters are the C
    // function's in other types: inlined, most conversions leave nothing behind.
    tokens.extend(quote::quote!(#[inline(always)] #body));
    tokens.into()
}

/// Entry points that only report `MPI_ERR_UNSUPPORTED_OPERATION`: `unsupported! { Name, ... }`.
#[proc_macro]
pub fn unsupported(names: TokenStream) -> TokenStream {
    let names = parse_macro_input!(names as check::Names);
    unsupported::expand(&names).into()
}

/// The routines of Fortran for all functions but those named, `fortran_routines! { Name, ... }`, and a module `c` with
/// the declarations of C's functions.
#[proc_macro]
pub fn fortran_routines(except: TokenStream) -> TokenStream {
    let except = parse_macro_input!(except as check::Names);
    fortran::routines(&except).into()
}

/// The functions of another ABI's library but those named, `foreign_functions! { Name, ... }`, and a module `standard`
/// with the declarations of the standard ABI's.
#[proc_macro]
pub fn foreign_functions(except: TokenStream) -> TokenStream {
    let except = parse_macro_input!(except as check::Names);
    foreign::functions(&except).into()
}

/// Gives a function its own name, which the script of the library's exports may hide.
#[proc_macro_attribute]
pub fn exported(_: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as syn::ItemFn);
    let (name, name_text) = (&function.sig.ident, function.sig.ident.to_string());
    let names = entry::names(&[name_text], ".globl", name);
    quote::quote!(#function #names).into()
}

/// The names of a function of another ABI's library that is written by hand: `MPI_X` and `PMPI_X`.
#[proc_macro_attribute]
pub fn foreign(_: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as syn::ItemFn);
    let names = foreign::names(&function.sig.ident);
    quote::quote!(#[allow(non_snake_case, clippy::too_many_arguments)] #function #names).into()
}

/// Exports `unsafe extern "C" fn mpi_x_(...)` by all the names that Fortran's compilers have for `MPI_X` and `PMPI_X`.
#[proc_macro_attribute]
pub fn routine(_: TokenStream, item: TokenStream) -> TokenStream {
    let routine = parse_macro_input!(item as syn::ItemFn);
    let expanded = fortran::by_hand(routine);
    expanded
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
