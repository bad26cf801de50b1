//! `fortran_routines!` and `#[routine]`: the entry points of `mpif.h` and of the module `mpi`.
//!
//! A routine of Fortran takes every argument by reference, and the lengths of its strings by value behind all of them. How an
//! argument becomes C's follows from the standard's kind of the parameter alone.

mod argument;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, ItemFn, Result, Token};
use weft_abi::table::{self, Function};

use argument::{Argument, rust_type};

/// The functions whose routines are written by hand.
pub struct Except(Vec<&'static Function>);

impl Parse for Except {
    fn parse(input: ParseStream) -> Result<Except> {
        let names = Punctuated::<Ident, Token![,]>::parse_terminated(input)?;
        names
            .iter()
            .map(crate::check::named)
            .collect::<Result<_>>()
            .map(Except)
    }
}

/// The declarations of C's functions, and the routines of all but the excepted.
pub fn routines(except: &Except) -> TokenStream {
    let all = || table::functions().filter(|function| function.has_fortran());
    let declarations = all().map(declaration);
    let by_rule =
        all().filter(|function| !except.0.iter().any(|other| other.name == function.name));
    let routines = by_rule.map(routine);
    quote! {
        #[allow(non_snake_case)]
        pub mod c {
            use ::std::ffi::*;
            use ::weft_abi::*;
            unsafe extern "C" { #(#declarations)* }
        }
        #(#routines)*
    }
}

/// `MPI_X` as C declares it.
fn declaration(function: &Function) -> TokenStream {
    let name = format_ident!("{}", function.c_name(false));
    let parameters = function.parameters(false).map(|parameter| {
        if parameter.is_varargs() {
            return quote!(...);
        }
        let name = identifier(parameter.name);
        let c_type = rust_type(&parameter.c_type(false).rust());
        quote!(#name: #c_type)
    });
    let returns = returned(function);
    quote!(pub fn #name(#(#parameters),*) -> #returns;)
}

/// The routine of a function, by the kinds of its parameters.
fn routine(function: &Function) -> TokenStream {
    let name = format_ident!("pmpi_{}_", function.name.to_lowercase());
    let c_name = format_ident!("{}", function.c_name(false));
    let arguments: Vec<Argument> = function
        .parameters(false)
        .filter(|parameter| !parameter.is_varargs())
        .map(|parameter| Argument::of(function, parameter))
        .collect();
    let parameters = arguments
        .iter()
        .filter_map(|argument| argument.parameter.as_ref());
    let lengths = arguments
        .iter()
        .filter_map(|argument| argument.length.as_ref());
    let before = arguments.iter().map(|argument| &argument.before);
    let passed = arguments.iter().map(|argument| &argument.passed);
    let after = arguments.iter().map(|argument| &argument.after);
    let returns = returned(function);
    let mut aliases = aliases(&name.to_string(), "");
    if function
        .parameters
        .iter()
        .any(|parameter| parameter.kind == "C_BUFFER")
    {
        // The name of the form that takes a TYPE(C_PTR), which is an address by reference too (MPI-5.0 §9.2).
        aliases.extend(self::aliases(&name.to_string(), "_cptr"));
    }
    if function.returns_value() {
        return quote! {
            #[unsafe(no_mangle)]
            unsafe extern "C" fn #name(#(#parameters: *mut c_void),*) -> #returns {
                #(#before)*
                // SAFETY: Fortran's caller passes what the standard asks of each parameter.
                unsafe { c::#c_name(#(#passed),*) }
            }
            #aliases
        };
    }
    // MPI_PCONTROL alone has no IERROR.
    let ierror = (function.name != "Pcontrol").then(|| quote!(ierror: *mut c_int,));
    let result = (function.name != "Pcontrol").then(|| {
        quote! {
            // SAFETY: the place of IERROR, which is no optional argument here.
            unsafe { *ierror = code };
        }
    });
    quote! {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn #name(#(#parameters: *mut c_void,)* #ierror #(#lengths: usize),*) {
            #(#before)*
            // SAFETY: Fortran's caller passes what the standard asks of each parameter.
            let code = unsafe { c::#c_name(#(#passed),*) };
            #(#after)*
            #result
        }
        #aliases
    }
}

/// `#[routine]` on `unsafe extern "C" fn mpi_x_(...)`, which is exported by all its names.
pub fn by_hand(mut routine: ItemFn) -> Result<TokenStream> {
    let name = routine.sig.ident.to_string();
    if !(name.starts_with("mpi_") && name.ends_with('_')) {
        let message = "a routine's name is `mpi_x_`";
        return Err(Error::new_spanned(&routine.sig.ident, message));
    }
    let name = format!("p{name}");
    routine.sig.ident = Ident::new(&name, routine.sig.ident.span());
    let aliases = aliases(&name, "");
    Ok(quote! {
        #[unsafe(no_mangle)]
        #routine
        #aliases
    })
}

/// The other names by which compilers look for a routine whose symbol is `pmpi_x_`, and those of its MPI_ twin: one address.
/// The MPI_ names are weak, as C's are (MPI-5.0 §15.2).
fn aliases(symbol: &str, suffix: &str) -> TokenStream {
    let twin = symbol.trim_start_matches('p').trim_end_matches('_');
    let twin = format!("{twin}{suffix}");
    let mut text = String::new();
    for (plain, binding) in [(twin.clone(), "weak"), (format!("p{twin}"), "globl")] {
        let names = [
            format!("{plain}_"),
            format!("{plain}__"),
            plain.to_uppercase(),
            plain,
        ];
        for name in names.iter().filter(|&name| name != symbol) {
            text += &format!(".{binding} {name}\n.type {name}, @function\n.set {name}, {symbol}\n");
        }
    }
    quote!(::std::arch::global_asm!(#text);)
}

fn returned(function: &Function) -> TokenStream {
    rust_type(match function.returns {
        "int" => "c_int",
        "double" => "f64",
        other => other,
    })
}

fn identifier(name: &str) -> Ident {
    format_ident!("{name}")
}
