//! Constants as Fortran has them, and the special addresses.

use std::fmt::Write;

use weft_abi::table::{self, Constant, Value};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Two statements for each constant: fixed form has no long lines.
    Include,
    Module,
    /// Of `mpi_f08`, where handles and statuses have types.
    Typed,
}

/// Sections whose constants C alone has.
const OF_C: [&str; 5] = [
    "Buffer addresses",
    "Empty and ignored arguments",
    "Predefined attribute functions",
    "Fortran status layout",
    "File data conversion",
];

/// Constants that follow from the languages and not from the table (MPI-5.0 §2.6.4, §19.1.5, §3.2.5). With these interfaces
/// a compiler may copy a section of an array for the time of a call, and nothing keeps it from moving code over a call.
const OWN: [(&str, &str, &str); 8] = [
    ("integer", "MPI_ADDRESS_KIND", "8"),
    ("integer", "MPI_COUNT_KIND", "8"),
    ("integer", "MPI_OFFSET_KIND", "8"),
    ("integer", "MPI_INTEGER_KIND", "4"),
    ("integer", "MPI_STATUS_SIZE", "8"),
    ("integer", "MPI_SOURCE", "1"),
    ("integer", "MPI_TAG", "2"),
    ("integer", "MPI_ERROR", "3"),
];

/// What the interface does with sections of arrays, in every call, and with buffers of nonblocking calls; and whether mpi_f08 does.
const PROPERTIES: [(&str, bool); 2] = [
    ("MPI_SUBARRAYS_SUPPORTED", true),
    ("MPI_ASYNC_PROTECTS_NONBLOCKING", true),
];

/// The common block of the integers in libmpifort_abi, in its order (`sentinel.rs` there).
const SPECIAL: [(&str, &str); 8] = [
    ("MPI_BOTTOM", ""),
    ("MPI_IN_PLACE", ""),
    ("MPI_BUFFER_AUTOMATIC", ""),
    ("MPI_UNWEIGHTED", "(1)"),
    ("MPI_WEIGHTS_EMPTY", "(1)"),
    ("MPI_ERRCODES_IGNORE", "(1)"),
    ("MPI_STATUS_IGNORE", "(MPI_STATUS_SIZE)"),
    ("MPI_STATUSES_IGNORE", "(MPI_STATUS_SIZE, 1)"),
];

pub fn constants(form: Form) -> String {
    let mut text = String::new();
    heading(&mut text, form, "Kinds, and what the interface can do");
    for (of_type, name, value) in OWN {
        constant(&mut text, form, of_type, name, value);
    }
    for (name, of_typed) in PROPERTIES {
        let value = match of_typed && form == Form::Typed {
            true => ".true.",
            false => ".false.",
        };
        constant(&mut text, form, "logical", name, value);
    }
    let sections = table::sections();
    let ours = sections.iter().filter(|section| {
        !section.title.starts_with("Tool interface") && !OF_C.contains(&section.title)
    });
    for section in ours {
        heading(&mut text, form, section.title);
        for one in &section.constants {
            let name = format!("MPI_{}", one.name);
            let value = value(section.title, one);
            match handle(one) {
                Some(handle) if form == Form::Typed => {
                    let value = match one.value {
                        Value::Alias(_) => value,
                        Value::Of { .. } => format!("{handle}({value})"),
                    };
                    constant(&mut text, form, &format!("type({handle})"), &name, &value);
                }
                _ => constant(&mut text, form, of_type(one), &name, &value),
            }
        }
    }
    special(&mut text, form);
    text
}

fn of_type(constant: &Constant) -> &'static str {
    match constant.value {
        Value::Of {
            c_type: "MPI_Offset",
            ..
        } => "integer(kind=MPI_OFFSET_KIND)",
        _ => "integer",
    }
}

/// The type of a handle's constant.
fn handle(constant: &Constant) -> Option<&'static str> {
    match constant.value {
        Value::Alias(other) => table::sections()
            .iter()
            .flat_map(|section| &section.constants)
            .find(|constant| constant.name == other)
            .and_then(handle),
        Value::Of { c_type, .. } => {
            (c_type.starts_with("MPI_") && c_type != "MPI_Offset").then_some(c_type)
        }
    }
}

/// A string's length does not count a null in Fortran (MPI-5.0 §19.3.9).
fn value(section: &str, constant: &Constant) -> String {
    match constant.value {
        Value::Alias(other) => format!("MPI_{other}"),
        Value::Of { .. } if section.starts_with("Sizes of strings") => {
            (constant.number() - 1).to_string()
        }
        Value::Of { .. } => constant.number().to_string(),
    }
}

fn heading(text: &mut String, form: Form, title: &str) {
    let margin = margin(form);
    let comment = if form == Form::Include { "" } else { margin };
    writeln!(text, "\n{comment}! {title}").expect("a string takes it");
}

fn margin(form: Form) -> &'static str {
    match form {
        Form::Include => "      ",
        Form::Module | Form::Typed => "  ",
    }
}

fn constant(text: &mut String, form: Form, of_type: &str, name: &str, value: &str) {
    let margin = margin(form);
    match form {
        Form::Include => writeln!(
            text,
            "{margin}{of_type} {name}\n{margin}parameter ({name}={value})"
        ),
        Form::Module | Form::Typed => {
            writeln!(text, "{margin}{of_type}, parameter :: {name} = {value}")
        }
    }
    .expect("a string takes it");
}

/// The special addresses, which libmpifort_abi knows by their places in two common blocks.
fn special(text: &mut String, form: Form) {
    let margin = margin(form);
    heading(text, form, "Special addresses, told by where they stand");
    for (name, dimension) in SPECIAL {
        let (of_type, dimension) = match (form, dimension) {
            (Form::Typed, "(MPI_STATUS_SIZE)") => ("type(MPI_Status)", ""),
            (Form::Typed, "(MPI_STATUS_SIZE, 1)") => ("type(MPI_Status)", "(1)"),
            _ => ("integer", dimension),
        };
        let colons = if form == Form::Typed { " ::" } else { "" };
        writeln!(text, "{margin}{of_type}{colons} {name}{dimension}").expect("a string takes it");
    }
    for (name, dimension) in [("MPI_ARGV_NULL", "(1)"), ("MPI_ARGVS_NULL", "(1, 1)")] {
        writeln!(text, "{margin}character(len=1) {name}{dimension}").expect("a string takes it");
    }
    // One name a line: a block goes on where it is named again.
    for (name, _) in SPECIAL {
        writeln!(text, "{margin}common /MPIWEFT/ {name}").expect("a string takes it");
    }
    writeln!(
        text,
        "{margin}common /MPIWEFTC/ MPI_ARGV_NULL\n{margin}common /MPIWEFTC/ MPI_ARGVS_NULL\n\
         {margin}save /MPIWEFT/\n{margin}save /MPIWEFTC/"
    )
    .expect("a string takes it");
}
