//! The entry points of functions that are not implemented.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::check::Names;
use crate::entry::symbols;

/// An entry point without parameters: in the C calling convention the caller clears its own arguments away.
pub fn expand(names: &Names) -> TokenStream {
    let entries = names
        .0
        .iter()
        .flat_map(|function| function.c_names())
        .map(|mpi_name| {
            let name = format_ident!("{mpi_name}");
            let symbols = symbols(&mpi_name, &name);
            quote! {
                #[allow(non_snake_case)]
                extern "C" fn #name() -> ::std::ffi::c_int { crate::entry::unsupported(#mpi_name) }
                #symbols
            }
        });
    quote!(#(#entries)*)
}
