//! The C entry points of an implemented function.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Type};
use weft_abi::table::{Direction, Function, Parameter};

/// Both forms of `function`, which call `body`.
pub fn expand(function: &Function, body: &ItemFn) -> TokenStream {
    let forms = [false, true]
        .into_iter()
        .filter(|&large| !large || function.has_large())
        .map(|large| form(function, body, large));
    quote!(#(#forms)*)
}

/// A function with the C signature of one form, and its names.
fn form(function: &Function, body: &ItemFn, large: bool) -> TokenStream {
    let mpi_name = function.c_name(large);
    let name = format_ident!("{mpi_name}");
    let names_of_it = symbols(&mpi_name, &name);
    let fixed: Vec<&Parameter> = function
        .parameters(large)
        .filter(|p| !p.is_varargs())
        .collect();
    let names = fixed.iter().map(|parameter| identifier(parameter));
    let c_types = fixed.iter().map(|parameter| c_type(parameter, large));
    let call = call(function, body, large);
    let enter = (!function.any_time).then(|| quote!(crate::entry::enter()?;));
    let returns = returned(function);
    let run = match function.returns_value() {
        true => quote!(#call),
        false => {
            let object = object(function, large);
            let called = described(function, large);
            quote! {
                let outcome = (|| -> crate::entry::Result<()> { #enter #call })();
                match outcome {
                    Ok(()) => ::weft_abi::MPI_SUCCESS,
                    Err(error) => crate::entry::raise(error, #object, #called),
                }
            }
        }
    };
    quote! {
        #[allow(non_snake_case)]
        unsafe extern "C" fn #name(#(#names: #c_types),*) -> #returns { #run }
        #names_of_it
    }
}

/// `body(parameters)`, each parameter made from its C form.
fn call(function: &Function, body: &ItemFn, large: bool) -> TokenStream {
    let function_name = &body.sig.ident;
    let parameters = function
        .parameters(true)
        .filter(|parameter| !parameter.is_varargs());
    let arguments = parameters
        .zip(&body.sig.inputs)
        .map(|(parameter, argument)| {
            let FnArg::Typed(typed) = argument else {
                unreachable!("check::signature lets plain parameters pass only")
            };
            if function.returns_value() {
                let name = identifier(parameter);
                return quote!(#name.into());
            }
            convert(parameter, &typed.ty, large)
        });
    quote!(#function_name(#(#arguments),*))
}

/// The conversion carries the span of the Rust type, so that a mismatch is reported there.
fn convert(parameter: &Parameter, wanted: &Type, large: bool) -> TokenStream {
    let name = identifier(parameter);
    let text = parameter.name;
    match (parameter.large_only, large) {
        (true, false) => quote!(None),
        (true, true) => quote! {
            // SAFETY: as below.
            Some(unsafe { crate::entry::FromC::from_c(#name, #text)? })
        },
        (false, _) => {
            let c_type = c_type(parameter, large);
            quote_spanned! {wanted.span()=>
                // SAFETY: the caller of an MPI function passes what the standard asks of each parameter.
                unsafe { <#wanted as crate::entry::FromC<#c_type>>::from_c(#name, #text)? }
            }
        }
    }
}

/// The function's name and behind it what an error may be about, by kind and name: all that goes in, and buffers. One string,
/// so that the call that is not made costs the function no registers.
fn described(function: &Function, large: bool) -> String {
    let may_be_wrong = |one: &&Parameter| one.direction != Direction::Out || one.kind == "BUFFER";
    let parameters = function.parameters(large).filter(may_be_wrong);
    let words = parameters.map(|one| format!("{} {}", one.kind, one.name));
    let words = words.collect::<Vec<_>>().join(",");
    format!("{}({words}", function.c_name(large))
}

/// The handler that a call on no object is given, for its own errors and for what it makes (MPI-5.0 §7.4.2, §11.3.1).
fn given(function: &Function, large: bool) -> TokenStream {
    let handler = function
        .parameters(large)
        .find(|parameter| parameter.kind == "ERRHANDLER" && parameter.direction == Direction::In);
    let Some(handler) = handler else {
        return quote!(crate::entry::Object::None);
    };
    let name = identifier(handler);
    let makes_session = function
        .parameters(large)
        .any(|parameter| parameter.kind == "SESSION");
    match makes_session {
        true => quote!(crate::entry::Object::GivenForSession(#name.addr())),
        false => quote!(crate::entry::Object::GivenForComm(#name.addr())),
    }
}

/// The object whose error handler gets the error: the first communicator, window, file or session that goes in
/// (MPI-5.0 §9.3). Calls of files that are on none, as opening one, have the handler of `MPI_FILE_NULL` (§14.7).
fn object(function: &Function, large: bool) -> TokenStream {
    let on_no_file = ["File_open", "File_delete", "Register_datarep"];
    if on_no_file.contains(&function.name) {
        return quote!(crate::entry::Object::File(::weft_abi::MPI_FILE_NULL.addr()));
    }
    let parameter = function.parameters(large).find(|parameter| {
        let carries = matches!(
            parameter.kind,
            "COMMUNICATOR" | "WINDOW" | "FILE" | "SESSION"
        );
        carries && parameter.direction != Direction::Out
    });
    let Some(parameter) = parameter else {
        return given(function, large);
    };
    let name = identifier(parameter);
    let kind = match parameter.kind {
        "COMMUNICATOR" => quote!(Comm),
        "WINDOW" => quote!(Win),
        "FILE" => quote!(File),
        _ => quote!(Session),
    };
    match parameter.c_type(large).pointers {
        0 => quote!(crate::entry::Object::#kind(#name.addr())),
        // SAFETY of the read: null is tested, and the standard asks for a handle there.
        _ => quote! {
            match #name.is_null() {
                true => crate::entry::Object::None,
                // SAFETY: not null, and the standard asks for a handle there.
                false => crate::entry::Object::#kind(unsafe { *#name }.addr()),
            }
        },
    }
}

/// The names of `function`: one address by `MPI_X` and `PMPI_X`, as tools that interpose the first and call the second
/// expect (MPI-5.0 §15.2). Both are weak, so that a library with another ABI, which has this one in it, defines them
/// anew; it calls this one by `weft_abi_X`, which is hidden, and so no library's export.
pub fn symbols(mpi_name: &str, function: &syn::Ident) -> TokenStream {
    let hidden = format!("weft_abi_{mpi_name}");
    let hide = format!(".hidden {hidden}");
    let weak = names(
        &[format!("P{mpi_name}"), mpi_name.to_string()],
        ".weak",
        function,
    );
    let strong = names(&[hidden], ".globl", function);
    quote! {
        #weak
        #strong
        ::std::arch::global_asm!(#hide);
    }
}

/// Names of a function, in its own code unit, as aliases must be: `global_asm!` beside it lands there.
pub fn names(names: &[String], binding: &str, function: &syn::Ident) -> TokenStream {
    let text = names
        .iter()
        .map(|name| format!("{binding} {name}\n.type {name}, @function\n.set {name}, {{0}}\n"))
        .collect::<String>();
    quote!(::std::arch::global_asm!(#text, sym #function);)
}

/// The Rust type of a function's result.
pub fn returned(function: &Function) -> TokenStream {
    rust_type(match function.returns {
        "int" => "c_int",
        "double" => "f64",
        handle => handle,
    })
}

fn identifier(parameter: &Parameter) -> syn::Ident {
    format_ident!("{}", parameter.name)
}

fn c_type(parameter: &Parameter, large: bool) -> TokenStream {
    rust_type(&parameter.c_type(large).rust())
}

/// A type of the table's by its full path: what a macro makes names nothing of the module it stands in.
pub fn rust_type(text: &str) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("the table's types are Rust types");
    qualified(tokens)
}

fn qualified(tokens: TokenStream) -> TokenStream {
    let one = |token| match token {
        TokenTree::Ident(name) if name.to_string().starts_with("c_") => quote!(::std::ffi::#name),
        TokenTree::Ident(name) if name.to_string().starts_with("MPI_") => quote!(::weft_abi::#name),
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), qualified(group.stream()))).into()
        }
        other => other.into(),
    };
    tokens
        .into_iter()
        .map(one)
        .collect::<Vec<TokenStream>>()
        .into_iter()
        .collect()
}
