//! `fortran_routines!` and `#[routine]`: the entry points of `mpif.h` and of the modules `mpi` and `mpi_f08`.
//!
//! A routine of Fortran takes every argument by reference, and the lengths of its strings by value behind all of them. How an
//! argument becomes C's follows from the standard's kind of the parameter alone.

mod argument;
mod buffer;
mod form;
mod library;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, Ident, ItemFn, Result};
use weft_abi::table::{self, Function, Parameter};

use crate::check::Names;
use crate::entry::returned;
use argument::argument;
use form::{Argument, Form, rust_type};
use library::Library;

/// The declarations of C's functions, and the routines of all but the excepted, which are written by hand.
pub fn routines(except: &Names) -> TokenStream {
    let all = || table::functions().filter(|function| function.has_fortran());
    let declarations = all().flat_map(|function| {
        let large = function.has_large().then(|| declaration(function, true));
        std::iter::once(declaration(function, false)).chain(large)
    });
    let by_rule =
        all().filter(|function| !except.0.iter().any(|other| other.name == function.name));
    let routines = by_rule.flat_map(|function| {
        forms(function)
            .into_iter()
            .map(move |form| routine(function, form))
    });
    // The modules of the library, as the code of `argument` and `buffer` names them.
    let root = quote!(crate);
    let of_descriptors = Library::here()
        .has_descriptors()
        .then(|| quote!(use #root::{copied, kept, refused, section};));
    let of_bind_c = (Library::here() == Library::Standard).then(|| quote!(use #root::descriptor;));
    quote! {
        use ::std::ffi::{c_int, c_void};
        use #root::abi::*;
        use #root::{handle, ierror, index, peers, sentinel, string};
        #of_descriptors
        #of_bind_c
        #[allow(non_snake_case)]
        pub mod c {
            use ::std::ffi::*;
            use #root::abi::*;
            unsafe extern "C" { #(#declarations)* }
        }
        #(#routines)*
    }
}

/// `MPI_X` as C declares it.
fn declaration(function: &Function, large: bool) -> TokenStream {
    let name = format_ident!("{}", function.c_name(large));
    let large = large || Library::here().has_large_alone(function);
    let parameters = function.parameters(large).map(|parameter| {
        if parameter.is_varargs() {
            return quote!(...);
        }
        let name = identifier(parameter.name);
        let c_type = rust_type(&parameter.c_type(large).rust());
        quote!(#name: #c_type)
    });
    let returns = returned(function);
    let symbol = Library::here().called(&name.to_string());
    quote!(#[link_name = #symbol] pub fn #name(#(#parameters),*) -> #returns;)
}

/// The routine of `mpif.h`, and those of `mpi_f08` that are not the same.
fn forms(function: &Function) -> Vec<Form> {
    let library = Library::here();
    let described = function.has_buffer() && library.has_descriptors();
    let plain = Form {
        large: library.has_large_alone(function),
        plain_name: true,
        ..Form::default()
    };
    let f08 = Form {
        f08: true,
        described,
        bind_c: described && library == Library::Standard,
        ..plain
    };
    let mut forms = vec![plain];
    if !same_in_f08(function) {
        forms.push(f08);
    }
    if function.has_large_f08() && library.has_large_f08() {
        forms.push(Form {
            large: true,
            plain_name: false,
            ..f08
        });
    }
    forms
}

/// Whether `mpi_f08` can call the routine of `mpif.h`: all but buffers by descriptors and addresses that come out as such.
fn same_in_f08(function: &Function) -> bool {
    let detaches = |parameter: &Parameter| parameter.kind == "C_BUFFER2";
    let described = function.has_buffer() && Library::here().has_descriptors();
    !described && !function.parameters.iter().any(detaches)
}

/// The symbol of a routine.
fn symbol(function: &Function, form: Form) -> String {
    let name = function.name.to_lowercase();
    let large = if form.plain_name { "" } else { "_c" };
    match form {
        Form { f08: false, .. } => format!("pmpi_{name}_"),
        Form {
            described: true, ..
        } => format!("pmpi_{name}{large}_f08ts_"),
        _ => format!("pmpi_{name}{large}_f08_"),
    }
}

/// The routine of a function, by the kinds of its parameters.
fn routine(function: &Function, form: Form) -> TokenStream {
    let symbol = symbol(function, form);
    let name = identifier(&symbol);
    let c_name = format_ident!("{}", function.c_name(!form.plain_name));
    let arguments: Vec<Argument> = function
        .parameters(form.large)
        .filter(|parameter| !parameter.is_varargs())
        .map(|parameter| argument(function, parameter, form))
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
    let aliases = if form.f08 {
        twin(&symbol)
    } else {
        old_names(function, &symbol)
    };
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
            // SAFETY: the place of IERROR.
            unsafe { ierror::store(ierror, code) };
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
    let function = table::functions()
        .find(|function| format!("pmpi_{}_", function.name.to_lowercase()) == name);
    let aliases = match function {
        _ if name.ends_with("_f08_") || name.ends_with("_f08ts_") => twin(&name),
        Some(function) => old_names(function, &name),
        None => aliases(&name, ""),
    };
    Ok(quote! {
        #[unsafe(no_mangle)]
        #routine
        #aliases
    })
}

/// The names of a routine of `mpif.h`, and of what is the same in the modules.
fn old_names(function: &Function, symbol: &str) -> TokenStream {
    let mut names = aliases(symbol, "");
    if function
        .parameters
        .iter()
        .any(|parameter| parameter.kind == "C_BUFFER")
    {
        // The name of the form that takes a TYPE(C_PTR), which is an address by reference too (MPI-5.0 §9.2).
        names.extend(aliases(symbol, "_cptr"));
    }
    if function.has_f08() && same_in_f08(function) {
        let plain = symbol.trim_start_matches('p').trim_end_matches('_');
        let in_f08 = format!("p{plain}_f08_");
        let mut text =
            alias("weak", &format!("{plain}_f08_"), symbol) + &alias("globl", &in_f08, symbol);
        for name in Library::here().names_in_f08(&in_f08) {
            text += &alias("globl", &name, symbol);
        }
        names.extend(quote!(::std::arch::global_asm!(#text);));
    }
    let name = function.name.to_lowercase();
    for name in Library::here().further_names(&name) {
        let text = alias("globl", &name, symbol);
        names.extend(quote!(::std::arch::global_asm!(#text);));
    }
    names
}

/// The MPI_ name of a routine of `mpi_f08` alone, and what else the library calls it.
fn twin(symbol: &str) -> TokenStream {
    let mut text = alias("weak", symbol.trim_start_matches('p'), symbol);
    for name in Library::here().names_in_f08(symbol) {
        text += &alias("globl", &name, symbol);
    }
    quote!(::std::arch::global_asm!(#text);)
}

fn alias(binding: &str, name: &str, symbol: &str) -> String {
    format!(".{binding} {name}\n.type {name}, @function\n.set {name}, {symbol}\n")
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
            text += &alias(binding, name, symbol);
        }
    }
    quote!(::std::arch::global_asm!(#text);)
}

fn identifier(name: &str) -> Ident {
    format_ident!("{name}")
}
