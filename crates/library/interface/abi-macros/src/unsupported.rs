//! The entry points of functions that are not implemented.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Result, Token};
use weft_abi::table::Function;

use crate::check;
use crate::entry::symbols;

pub struct Names(Vec<&'static Function>);

impl Parse for Names {
    fn parse(input: ParseStream) -> Result<Names> {
        let names = Punctuated::<Ident, Token![,]>::parse_terminated(input)?;
        names
            .iter()
            .map(check::named)
            .collect::<Result<_>>()
            .map(Names)
    }
}

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
