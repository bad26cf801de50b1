//! `foreign_functions!`: the functions of a library for programs of another ABI. Each converts its arguments, by the
//! standard's kind of each parameter, calls the standard ABI's function, and converts what comes out.
//!
//! The crate that uses the macro has the run-time half: `convert` (places and arrays) and `kinds`, one type a converted
//! kind. It names the functions that it has by hand.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;
use weft_abi::table::{self, Direction, Function, Parameter};

use crate::check::Names;
use crate::entry::{self, returned, rust_type};

/// The kinds whose values are not the standard ABI's.
const CONVERTED: [&str; 40] = [
    "ACCESS_MODE",
    "ASSERT",
    "BIND_TYPE",
    "CALLBACK_SAFETY",
    "COMBINER",
    "COMMUNICATOR",
    "COMM_COMPARISON",
    "DATATYPE",
    "DISTRIB_ENUM",
    "DTYPE_DISTRIBUTION",
    "ERRHANDLER",
    "ERROR_CLASS",
    "ERROR_CODE",
    "FILE",
    "GROUP",
    "GROUP_COMPARISON",
    "INFO",
    "KEYVAL",
    "LOCK_TYPE",
    "MESSAGE",
    "OPERATION",
    "ORDER",
    "PVAR",
    "PVAR_CLASS",
    "RANK",
    "RANK_NNI",
    "REQUEST",
    "SESSION",
    "SOURCE_ORDERING",
    "SPLIT_TYPE",
    "STATUS",
    "TAG",
    "THREAD_LEVEL",
    "TOOL_VAR_VERBOSITY",
    "TOPOLOGY_TYPE",
    "TYPECLASS",
    "UPDATE_MODE",
    "VARIABLE_SCOPE",
    "VIEW_DISPLACEMENT",
    "WINDOW",
];

/// The code for one parameter.
struct Piece {
    name: Ident,
    /// The type in `kinds`, where it is a value of a kind that is converted.
    kind: Option<Ident>,
    parameter: TokenStream,
    before: TokenStream,
    passed: TokenStream,
    after: TokenStream,
}

/// The declarations of the standard ABI's functions, and the functions of all but the excepted.
pub fn functions(except: &Names) -> TokenStream {
    let declarations = each(|_| true).map(|(function, large)| declaration(function, large));
    let by_rule = |function: &Function| !except.0.iter().any(|other| other.name == function.name);
    let functions = each(by_rule).map(|(function, large)| converting(function, large));
    quote! {
        /// The functions of the standard ABI, by names that no library exports.
        #[allow(non_snake_case)]
        pub mod standard {
            unsafe extern "C" { #(#declarations)* }
        }
        #(#functions)*
    }
}

/// The forms of all functions that `wanted` says.
fn each(wanted: impl Fn(&Function) -> bool) -> impl Iterator<Item = (&'static Function, bool)> {
    let forms = |function: &'static Function| {
        let large = function.has_large().then_some((function, true));
        std::iter::once((function, false)).chain(large)
    };
    table::functions()
        .chain(&table::extensions().functions)
        .filter(move |function| wanted(function))
        .flat_map(forms)
}

fn declaration(function: &Function, large: bool) -> TokenStream {
    let name = format_ident!("{}", function.c_name(large));
    let symbol = format!("weft_abi_{name}");
    let parameters = fixed(function, large).map(|parameter| {
        let name = format_ident!("{}", parameter.name);
        let c_type = rust_type(&parameter.c_type(large).rust());
        quote!(#name: #c_type)
    });
    let returns = returned(function);
    quote! {
        #[link_name = #symbol]
        pub fn #name(#(#parameters),*) -> #returns;
    }
}

fn fixed(function: &Function, large: bool) -> impl Iterator<Item = &Parameter> {
    function
        .parameters(large)
        .filter(|parameter| !parameter.is_varargs())
}

/// A function of the library, with its names.
fn converting(function: &Function, large: bool) -> TokenStream {
    let name = format_ident!("{}", function.c_name(large));
    let names = names(&name);
    let returns = returned(function);
    let pieces: Vec<Piece> = fixed(function, large)
        .map(|parameter| piece(function, parameter, large))
        .collect();
    let parameters: Vec<_> = pieces.iter().map(|piece| &piece.parameter).collect();
    let body = body(&name, &pieces);
    let body = match usual(&name, &pieces) {
        None => body,
        Some((is_usual, call)) => {
            let values = pieces.iter().map(|piece| &piece.name);
            quote! {
                #[cold]
                #[inline(never)]
                unsafe extern "C" fn unusual(#(#parameters),*) -> #returns { #body }
                if #is_usual {
                    // SAFETY: as below.
                    return unsafe { #call };
                }
                // SAFETY: by this function's contract.
                unsafe { unusual(#(#values),*) }
            }
        }
    };
    quote! {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        unsafe extern "C" fn #name(#(#parameters),*) -> #returns { #body }
        #names
    }
}

/// The conversions and the call.
fn body(name: &Ident, pieces: &[Piece]) -> TokenStream {
    let before = pieces.iter().map(|piece| &piece.before);
    let passed = pieces.iter().map(|piece| &piece.passed);
    let after: Vec<_> = pieces.iter().map(|piece| &piece.after).collect();
    let call = quote!(standard::#name(#(#passed),*));
    let call = match after.iter().all(|code| code.is_empty()) {
        true => call,
        false => quote! {
            let code = #call;
            #(#after)*
            code
        },
    };
    quote! {
        // SAFETY: the caller passes what the standard asks of each parameter, in the form of its ABI.
        unsafe {
            #(#before)*
            #call
        }
    }
}

/// A call of communication whose values are all of the usual ones, which costs few instructions to find, jumps to the
/// standard's; any other goes a longer way, which needs registers kept.
fn usual(name: &Ident, pieces: &[Piece]) -> Option<(TokenStream, TokenStream)> {
    let is = |kind: &str| {
        pieces
            .iter()
            .any(|piece| piece.kind.as_ref().is_some_and(|one| one == kind))
    };
    let only_values = pieces
        .iter()
        .all(|piece| piece.before.is_empty() && piece.after.is_empty());
    if !only_values || !is("COMMUNICATOR") || !is("DATATYPE") {
        return None;
    }
    let tests = pieces.iter().filter_map(|piece| {
        let (kind, value) = (piece.kind.as_ref()?, &piece.name);
        Some(quote!(<kinds::#kind as convert::Kind>::is_usual(#value)))
    });
    let passed = pieces.iter().map(|piece| match (&piece.kind, &piece.name) {
        (Some(kind), value) => quote!(<kinds::#kind as convert::Kind>::usual(#value)),
        (None, _) => piece.passed.clone(),
    });
    Some((quote!(#(#tests)&&*), quote!(standard::#name(#(#passed),*))))
}

/// The names of a function of another ABI's library: those of the standard's, which are weak, give way to them.
pub fn names(function: &Ident) -> TokenStream {
    entry::names(
        &[format!("P{function}"), function.to_string()],
        ".globl",
        function,
    )
}

/// The kind of a parameter, where it is not the table's.
fn kind(function: &Function, parameter: &Parameter) -> &'static str {
    match (function.name, parameter.name) {
        // The program's exit status.
        ("Abort", "errorcode") => "PLAIN",
        // The one place of MPI_DISPLACEMENT_CURRENT.
        ("File_set_view", "disp") => "VIEW_DISPLACEMENT",
        // All ranks but those that are translated are of processes.
        (_, name) if parameter.kind.starts_with("RANK") => {
            let translated = ["ranks1", "ranks2"].contains(&name);
            match parameter.c_type(false).array.is_empty() || translated {
                true => parameter.kind,
                false => "PLAIN",
            }
        }
        _ => parameter.kind,
    }
}

fn piece(function: &Function, parameter: &Parameter, large: bool) -> Piece {
    let name = format_ident!("{}", parameter.name);
    let c_type = parameter.c_type(large);
    let kind = kind(function, parameter);
    let plain_type = rust_type(&c_type.rust());
    let plain = |passed: TokenStream| Piece {
        name: name.clone(),
        kind: None,
        parameter: quote!(#name: #plain_type),
        before: quote!(),
        passed,
        after: quote!(),
    };
    let address = match c_type.constant {
        true => quote!(#name.cast_mut()),
        false => quote!(#name),
    };
    match kind {
        "BUFFER" if may_be_special(function, parameter) => plain(quote!(kinds::buffer(#address))),
        "WEIGHT" => plain(quote!(kinds::weights(#address))),
        "C_BUFFER2" => Piece {
            after: quote!(kinds::detached(#name);),
            ..plain(quote!(#name))
        },
        "FUNCTION" if c_type.base.to_lowercase().contains("copy") => {
            plain(quote!(kinds::copy_function(#name)))
        }
        _ if !CONVERTED.contains(&kind) => plain(quote!(#name)),
        _ => converted(function, parameter, &name, kind),
    }
}

/// Whether a buffer may be `MPI_IN_PLACE` or `MPI_BUFFER_AUTOMATIC`.
fn may_be_special(function: &Function, parameter: &Parameter) -> bool {
    let in_place = ["sendbuf", "recvbuf"].contains(&parameter.name);
    in_place && !function.name.contains("endrecv")
        || function.name.ends_with("ttach_buffer")
        || function.name == "Buffer_attach"
}

/// A parameter of a kind that is converted: a value, a place or an array.
fn converted(function: &Function, parameter: &Parameter, name: &Ident, kind: &str) -> Piece {
    let c_type = parameter.c_type(false);
    let kind = format_ident!("{kind}");
    let foreign = quote!(<kinds::#kind as convert::Kind>::Foreign);
    if c_type.array.is_empty() && c_type.pointers == 0 {
        return Piece {
            name: name.clone(),
            kind: Some(kind.clone()),
            parameter: quote!(#name: #foreign),
            before: quote!(),
            passed: quote!(<kinds::#kind as convert::Kind>::to_standard(#name)),
            after: quote!(),
        };
    }
    let parameter_type = match c_type.constant {
        true => quote!(*const #foreign),
        false => quote!(*mut #foreign),
    };
    let place = format_ident!("{name}_place");
    let is_array = !c_type.array.is_empty();
    let made = match (is_array, parameter.direction) {
        (false, Direction::Out) => quote!(convert::Place::<kinds::#kind>::room(#name)),
        (false, _) => quote!(convert::Place::<kinds::#kind>::holding(#name)),
        (true, Direction::Out) => {
            let length = length(function, parameter);
            quote!(convert::Array::<kinds::#kind>::room(#name, #length))
        }
        (true, _) => {
            let length = length(function, parameter);
            quote!(convert::Array::<kinds::#kind>::holding(#name, #length))
        }
    };
    let after = match parameter.direction {
        Direction::In => quote!(),
        _ => quote!(#place.store();),
    };
    Piece {
        name: name.clone(),
        kind: None,
        parameter: quote!(#name: #parameter_type),
        before: quote!(let mut #place = #made;),
        passed: quote!(#place.address()),
        after,
    }
}

/// How many elements an array has that is converted.
fn length(function: &Function, array: &Parameter) -> TokenStream {
    let neighbors = function.name.to_lowercase().contains("neighbor");
    let comm = quote!(<kinds::COMMUNICATOR as convert::Kind>::to_standard(comm));
    match (array.name, neighbors) {
        ("sendtypes", false) => {
            return quote!(lengths::unless_in_place(kinds::buffer(sendbuf.cast_mut()), #comm));
        }
        ("recvtypes", false) => return quote!(lengths::blocks(#comm)),
        ("sendtypes", true) => return quote!(lengths::neighbors(#comm).1),
        ("recvtypes", true) => return quote!(lengths::neighbors(#comm).0),
        _ => {}
    }
    let lengths = ["count", "incount", "n", "ndims"];
    let found = function
        .parameters(false)
        .find(|parameter| lengths.contains(&parameter.name));
    let found =
        found.unwrap_or_else(|| panic!("MPI_{}: how long is {}?", function.name, array.name));
    let found = format_ident!("{}", found.name);
    quote!(convert::length(#found))
}
