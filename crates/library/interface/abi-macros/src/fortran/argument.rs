//! One argument of a routine, from Fortran's form to C's and back.
//!
//! The crate that uses the macro has the run-time half, in modules that are named as the code here names them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;
use weft_abi::table::{Direction, Function, Parameter};

use super::buffer;
use super::form::{Argument, Form, rust_type};

/// Functions whose indices count from 1 in Fortran (MPI-5.0 §3.7.5).
const FROM_ONE: [&str; 6] = [
    "Waitany",
    "Testany",
    "Waitsome",
    "Testsome",
    "Request_get_status_any",
    "Request_get_status_some",
];

/// What a parameter is in a form of the function's routines.
pub fn argument(function: &Function, parameter: &Parameter, form: Form) -> Argument {
    let name = format_ident!("{}", parameter.name);
    let c_type = parameter.c_type(form.large);
    let is_scalar = c_type.pointers == 0 && c_type.array.is_empty();
    let is_array = !c_type.array.is_empty();
    match parameter.kind {
        "ARGUMENT_COUNT" | "ARGUMENT_LIST" => absent(is_scalar),
        "BUFFER" if form.described => buffer::argument(function, parameter, &name, form),
        "BUFFER" => plain(&name, quote!(sentinel::buffer(#name))),
        "STATUS" => plain(&name, quote!(sentinel::status(#name))),
        "WEIGHT" => plain(&name, quote!(sentinel::weights(#name))),
        "C_BUFFER2" if form.f08 => plain(&name, quote!(#name)),
        "C_BUFFER2" => unused(&name),
        "STRING" if form.bind_c => described(string(function, parameter, &name)),
        "STRING" => string(function, parameter, &name),
        "FUNCTION" | "POLYFUNCTION" | "STRING_ARRAY" | "STRING_2DARRAY" | "EXTRA_STATE"
        | "EXTRA_STATE2" | "ATTRIBUTE_VAL" | "ATTRIBUTE_VAL_10" => {
            panic!(
                "MPI_{}: {} is for a routine by hand",
                function.name, parameter.kind
            )
        }
        _ if is_handle(c_type.base) && is_array => handles(function, parameter, &name, form),
        _ if is_handle(c_type.base) && is_scalar => value(
            &name,
            c_type.base,
            buffer::described_by(function, parameter, form),
        ),
        _ if is_handle(c_type.base) => handle(parameter, &name),
        "INDEX" if FROM_ONE.contains(&function.name) => index(is_array, &name),
        _ if is_scalar => {
            let c_type = rust_type(&c_type.rust());
            // SAFETY of the read: stated where the function is called.
            plain(&name, quote!(*#name.cast::<#c_type>()))
        }
        _ => plain(&name, quote!(#name.cast())),
    }
}

fn is_handle(c_type: &str) -> bool {
    let numbers = ["MPI_Aint", "MPI_Count", "MPI_Offset", "MPI_Status"];
    c_type.starts_with("MPI_") && !numbers.contains(&c_type)
}

fn plain(name: &Ident, passed: TokenStream) -> Argument {
    Argument::new(name, quote!(), passed, quote!())
}

/// `argc` and `argv`, which Fortran does not have.
fn absent(is_scalar: bool) -> Argument {
    Argument {
        parameter: None,
        length: None,
        before: quote!(),
        passed: match is_scalar {
            true => quote!(0),
            false => quote!(::std::ptr::null_mut()),
        },
        after: quote!(),
    }
}

/// The address of a detached buffer, for which these interfaces have no type (MPI-5.0 §3.6).
fn unused(name: &Ident) -> Argument {
    let place = format_ident!("{name}_place");
    Argument::new(
        name,
        quote! {
            let _ = #name;
            let mut #place: *mut c_void = ::std::ptr::null_mut();
        },
        quote!((&raw mut #place).cast()),
        quote!(),
    )
}

/// A string that a descriptor holds.
fn described(mut argument: Argument) -> Argument {
    let name = argument.parameter.clone().expect("a string is an argument");
    let length = argument.length.take().expect("a string has a length");
    let before = argument.before;
    argument.before = quote! {
        // SAFETY: a descriptor that the compiler has made.
        let (#name, #length) = unsafe { descriptor::text(#name) };
        #before
    };
    argument
}

fn string(function: &Function, parameter: &Parameter, name: &Ident) -> Argument {
    let length = format_ident!("{name}_length");
    let text = format_ident!("{name}_text");
    let mut argument = match parameter.direction {
        Direction::In => {
            // Keys and values of an info lose blanks on both sides (MPI-5.0 §10), other strings trailing ones (§19.3.9).
            let trimmed = match function.name.starts_with("Info_") {
                true => quote!(stripped),
                false => quote!(trimmed),
            };
            Argument::new(
                name,
                quote! {
                    // SAFETY: a string of Fortran's with its length.
                    let #text = unsafe { string::#trimmed(#name, #length) };
                },
                quote!(#text.as_ptr()),
                quote!(),
            )
        }
        _ => {
            let room = room(function.name);
            Argument::new(
                name,
                quote!(let mut #text = string::Room::<{ #room as usize }>::new();),
                quote!(#text.as_mut_ptr()),
                quote! {
                    if code == MPI_SUCCESS {
                        // SAFETY: a string of Fortran's with its length.
                        unsafe { #text.store(#name, #length) };
                    }
                },
            )
        }
    };
    argument.length = Some(length);
    argument
}

/// How much room C asks for a string that it stores.
fn room(function: &str) -> TokenStream {
    match function {
        "Comm_get_name" | "Type_get_name" | "Win_get_name" => quote!(MPI_MAX_OBJECT_NAME),
        "Error_string" => quote!(MPI_MAX_ERROR_STRING),
        "File_get_view" => quote!(MPI_MAX_DATAREP_STRING),
        "Get_library_version" => quote!(MPI_MAX_LIBRARY_VERSION_STRING),
        "Get_processor_name" => quote!(MPI_MAX_PROCESSOR_NAME),
        "Info_get_nthkey" => quote!(MPI_MAX_INFO_KEY),
        "Lookup_name" | "Open_port" => quote!(MPI_MAX_PORT_NAME),
        other => panic!("MPI_{other}: how long its string is, a routine by hand must say"),
    }
}

/// A handle by value; a datatype may describe a section.
fn value(name: &Ident, c_type: &str, section: Option<Ident>) -> Argument {
    let c_type = rust_type(c_type);
    // SAFETY of the reads: as with every argument.
    let value = quote!(<#c_type as handle::Handle>::of_fortran(#name));
    let Some(section) = section else {
        return plain(name, value);
    };
    let described = format_ident!("{name}_described");
    let before = quote! {
        // SAFETY: a handle of Fortran's.
        let #described = #section.datatype(unsafe { #value });
    };
    Argument::new(name, before, quote!(#described.datatype), quote!())
}

/// One handle in a place, which goes in, out or both ways.
fn handle(parameter: &Parameter, name: &Ident) -> Argument {
    let c_type = rust_type(parameter.c_type(false).base);
    let place = format_ident!("{name}_handle");
    let before = match parameter.direction {
        Direction::Out => quote!(let mut #place = <#c_type as handle::Handle>::NULL;),
        _ => quote! {
            // SAFETY: a handle of Fortran's.
            let mut #place = unsafe { <#c_type as handle::Handle>::of_fortran(#name) };
        },
    };
    let after = match parameter.direction {
        Direction::In => quote!(),
        _ => quote! {
            // SAFETY: a handle of Fortran's.
            unsafe { handle::Handle::into_fortran(#place, #name) };
        },
    };
    Argument::new(name, before, quote!(&raw mut #place), after)
}

/// An array of handles.
fn handles(function: &Function, parameter: &Parameter, name: &Ident, form: Form) -> Argument {
    let c_type = rust_type(parameter.c_type(false).base);
    let list = format_ident!("{name}_handles");
    let length = how_many(function, parameter, form);
    let before = match parameter.direction {
        Direction::Out => quote! {
            // SAFETY: the number of handles is an argument too.
            let mut #list = handle::Handles::<#c_type>::room(unsafe { #length });
        },
        _ => quote! {
            // SAFETY: Fortran's caller passes as many handles as the standard asks for.
            let mut #list = unsafe { handle::Handles::<#c_type>::read(#name, #length) };
        },
    };
    let after = match parameter.direction {
        Direction::In => quote!(),
        _ => quote! {
            // SAFETY: as above.
            unsafe { #list.write(#name) };
        },
    };
    let made = buffer::described_by(function, parameter, form).map(|section| {
        let described = format_ident!("{name}_described");
        quote!(let #described = #section.datatypes(&mut #list);)
    });
    let before = quote!(#before #made);
    Argument::new(name, before, quote!(#list.as_mut_ptr()), after)
}

/// The length of an array of handles.
fn how_many(function: &Function, array: &Parameter, form: Form) -> TokenStream {
    let neighbors = function.name.to_lowercase().contains("neighbor");
    match (array.name, neighbors) {
        ("sendtypes", false) => return quote!(peers::unless_in_place(sendbuf, comm)),
        ("recvtypes", false) => return quote!(peers::all(comm)),
        ("sendtypes", true) => return quote!(peers::neighbors(comm).destinations),
        ("recvtypes", true) => return quote!(peers::neighbors(comm).sources),
        _ => {}
    }
    let counts = ["count", "incount"];
    let count = function
        .parameters(form.large)
        .find(|parameter| counts.contains(&parameter.name))
        .unwrap_or_else(|| panic!("MPI_{}: how long is {}?", function.name, array.name));
    let c_type = rust_type(&count.c_type(form.large).rust());
    let count = format_ident!("{}", count.name);
    quote!(*#count.cast::<#c_type>())
}

/// Indices of completed requests, which C counts from 0.
fn index(is_array: bool, name: &Ident) -> Argument {
    let after = match is_array {
        true => quote! {
            if code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS {
                // SAFETY: as many indices as C says were stored.
                unsafe { index::from_one(#name.cast(), *outcount.cast::<c_int>()) };
            }
        },
        false => quote! {
            // SAFETY: one index, which is undefined where C stored none.
            unsafe { index::from_one(#name.cast(), 1) };
        },
    };
    let before = match is_array {
        true => quote!(),
        false => quote! {
            // SAFETY: the place of one index.
            unsafe { *#name.cast::<c_int>() = MPI_UNDEFINED };
        },
    };
    Argument::new(name, before, quote!(#name.cast()), after)
}
