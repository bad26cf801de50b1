//! Choice buffers that come as descriptors, and the datatypes that describe them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;
use weft_abi::table::{Direction, Function, Parameter};

use super::form::{Argument, Form, rust_type};

/// What C's function is given of a buffer whose elements stand apart.
enum Use {
    /// Where the first one stands: what stands there is not looked at, or must be contiguous.
    Address,
    /// That, for one value of a predefined datatype.
    Value,
    /// That, and a datatype that says where the others are.
    Described,
    /// A copy, of which so many bytes are used.
    Copied(TokenStream),
    /// A copy that is kept until the operation is over.
    Kept(TokenStream),
}

/// A buffer; what follows sees its address.
pub fn argument(function: &Function, parameter: &Parameter, name: &Ident, form: Form) -> Argument {
    match how(function, parameter, form) {
        Use::Address => Argument::new(
            name,
            quote! {
                // SAFETY: a descriptor that the compiler has made.
                let #name = unsafe { section::address(#name) };
            },
            quote!(#name),
            quote!(),
        ),
        Use::Value => value(function, name),
        Use::Described => {
            let section = section(name);
            Argument::new(
                name,
                quote! {
                    // SAFETY: a descriptor that the compiler has made.
                    let #section = unsafe { section::Section::read(#name) };
                    let #name = #section.address();
                },
                quote!(#name),
                quote!(),
            )
        }
        Use::Copied(used) => {
            let copy = copy(name);
            let after = quote!(#copy.unpack(););
            copied(name, &used, after)
        }
        Use::Kept(used) if name == "recvbuf" => copied(name, &used, keep()),
        Use::Kept(used) => copied(name, &used, quote!()),
    }
}

fn section(name: &Ident) -> Ident {
    format_ident!("{name}_section")
}

fn copy(name: &Ident) -> Ident {
    format_ident!("{name}_copy")
}

fn value(function: &Function, name: &Ident) -> Argument {
    let what = format!("MPI_{}: {name}", function.name);
    let before = quote! {
        // SAFETY: a descriptor that the compiler has made, and handles of the caller's.
        let Some(#name) = (unsafe { section::value(#name, datatype) }) else {
            // SAFETY: as above, and the place of IERROR.
            unsafe { ierror::store(ierror, refused::value(#what, win)) };
            return;
        };
    };
    Argument::new(name, before, quote!(#name), quote!())
}

fn copied(name: &Ident, used: &TokenStream, after: TokenStream) -> Argument {
    let copy = copy(name);
    let before = quote! {
        // SAFETY: a descriptor that the compiler has made, and numbers of the caller's.
        let mut #copy = unsafe { copied::Copied::read(#name, || #used) };
        let #name = #copy.address();
    };
    Argument::new(name, before, quote!(#name), after)
}

/// After the call, and before the request is stored.
fn keep() -> TokenStream {
    quote! {
        // SAFETY: the arrays stand until the operation is over, as the standard asks.
        let code = unsafe {
            kept::keep([sendbuf_copy, recvbuf_copy], comm, &mut request_handle, code)
        };
    }
}

fn how(function: &Function, buffer: &Parameter, form: Form) -> Use {
    let has = |kind: &str| function.parameters.iter().any(|other| other.kind == kind);
    let makes_request = function
        .parameters
        .iter()
        .any(|other| other.kind == "REQUEST" && other.direction == Direction::Out);
    let is_output = buffer.direction != Direction::In || !buffer.c_type(false).constant;
    match (packed_bytes(function, buffer, form), has("OPERATION")) {
        (Some(bytes), _) if is_output => Use::Copied(bytes),
        (Some(bytes), _) => Use::Copied(quote!(#bytes.only_read())),
        (None, true) if !has("WINDOW") => {
            let used = operands(function, form);
            let used = match is_output {
                true => used,
                false => quote!(#used.only_read()),
            };
            match makes_request {
                true => Use::Kept(used),
                false => Use::Copied(used),
            }
        }
        _ if matches!(function.name, "Fetch_and_op" | "Compare_and_swap") => Use::Value,
        _ if datatype_of(function, buffer.name).is_some() => Use::Described,
        _ => Use::Address,
    }
}

/// How many bytes a buffer of packed data has, which no datatype describes (MPI-5.0 §5.2).
fn packed_bytes(function: &Function, buffer: &Parameter, form: Form) -> Option<TokenStream> {
    let size = match (function.name, buffer.name) {
        ("Pack" | "Pack_external", "outbuf") => "outsize",
        ("Unpack" | "Unpack_external", "inbuf") => "insize",
        _ => return None,
    };
    let size = number(function, size, form);
    Some(quote!(copied::Used::packed(#size)))
}

/// How much of its operands a reduction uses.
fn operands(function: &Function, form: Form) -> TokenStream {
    let has = |name: &str| function.parameters.iter().any(|other| other.name == name);
    if has("recvcounts") {
        let c_type = c_type(function, "recvcounts", form);
        return quote!(copied::Used::varying(datatype, comm, recvcounts.cast::<#c_type>()));
    }
    if has("recvcount") {
        let count = number(function, "recvcount", form);
        return quote!(copied::Used::blocks(datatype, comm, #count));
    }
    let count = number(function, "count", form);
    quote!(copied::Used::equal(datatype, #count))
}

/// The number that a parameter is.
fn number(function: &Function, name: &str, form: Form) -> TokenStream {
    let c_type = c_type(function, name, form);
    let name = format_ident!("{name}");
    quote!(*#name.cast::<#c_type>())
}

fn c_type(function: &Function, name: &str, form: Form) -> TokenStream {
    let mut parameters = function.parameters(form.large);
    let parameter = parameters.find(|other| other.name == name);
    let parameter = parameter.unwrap_or_else(|| panic!("MPI_{} has no {name}", function.name));
    match parameter.c_type(form.large).base {
        "int" => quote!(c_int),
        other => rust_type(other),
    }
}

/// The name of the datatype, or of the datatypes, that describe a buffer.
fn datatype_of(function: &Function, buffer: &str) -> Option<&'static str> {
    let own: &[&str] = match buffer {
        "sendbuf" => &["sendtype", "sendtypes"],
        "recvbuf" => &["recvtype", "recvtypes"],
        "origin_addr" => &["origin_datatype"],
        "result_addr" => &["result_datatype"],
        _ => &["datatype"],
    };
    let mut parameters = function.parameters.iter();
    let found = parameters.find(|other| own.contains(&other.name));
    found.map(|parameter| parameter.name)
}

/// The section that a datatype describes, if it describes one.
pub fn described_by(function: &Function, datatype: &Parameter, form: Form) -> Option<Ident> {
    let is_described = |buffer: &&Parameter| {
        buffer.kind == "BUFFER"
            && datatype_of(function, buffer.name) == Some(datatype.name)
            && matches!(how(function, buffer, form), Use::Described)
    };
    let buffer = function.parameters.iter().find(is_described);
    let buffer = buffer.filter(|_| form.described)?;
    Some(section(&format_ident!("{}", buffer.name)))
}
