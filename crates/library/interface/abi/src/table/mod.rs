//! The table of the ABI's functions, callbacks and constants, read from the text files in `crates/library/interface/abi/table`.
//!
//! A function is one entry, `Name flags(parameter, ...) -> type`; a line that starts with blanks goes on. A
//! parameter reads like C with the standard's parameter kind in place of the type: `out STATUS *status`.
//! Flags: `any`, callable before `MPI_Init` and after `MPI_Finalize` (MPI-5.0 §11.4.1); `deprecated`.
//! The text is part of this crate, so a mistake in it is a panic that says where.

mod constant;
mod ctype;
mod entry;
mod function;
#[cfg(test)]
mod tests;

pub use constant::{Constant, Section, Value, sections};
pub use ctype::CType;
pub use function::{Direction, Function, Parameter, callbacks};

use std::sync::LazyLock;

use entry::entries;

/// A chapter of the standard with its functions.
#[derive(Debug)]
pub struct Chapter {
    pub number: u8,
    pub title: &'static str,
    pub functions: Vec<Function>,
}

/// All chapters that define functions, in the standard's order.
pub fn chapters() -> &'static [Chapter] {
    static CHAPTERS: LazyLock<Vec<Chapter>> =
        LazyLock::new(|| CHAPTER_TEXTS.iter().map(|text| chapter(text)).collect());
    &CHAPTERS
}

/// Every function of the ABI; one that has a large-count twin (`_c`) stands once.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    chapters().iter().flat_map(|chapter| &chapter.functions)
}

/// The function `MPI_<name>`, named without its prefix and without `_c`.
pub fn function(name: &str) -> Option<&'static Function> {
    functions().find(|function| function.name == name)
}

/// Functions beyond the standard, which `mpi-ext.h` declares. Those named `X_...` begin with `MPIX_`.
pub fn extensions() -> &'static Chapter {
    static EXTENSIONS: LazyLock<Chapter> =
        LazyLock::new(|| chapter(include_str!("../../table/extensions.txt")));
    &EXTENSIONS
}

/// As [`function`], of the extensions too.
pub fn function_or_extension(name: &str) -> Option<&'static Function> {
    let extensions = extensions().functions.iter();
    function(name).or_else(|| {
        extensions
            .into_iter()
            .find(|function| function.name == name)
    })
}

fn chapter(text: &'static str) -> Chapter {
    let (head, body) = text.split_once('\n').expect("a chapter file has a heading");
    let (number, title) = head
        .strip_prefix("chapter ")
        .and_then(|rest| rest.split_once(' '))
        .unwrap_or_else(|| panic!("heading {head:?} is not `chapter NUMBER TITLE`"));
    Chapter {
        number: number.parse().expect("chapter number"),
        title,
        functions: entries(body).map(Function::parse).collect(),
    }
}

const CHAPTER_TEXTS: [&str; 16] = [
    include_str!("../../table/03-point-to-point.txt"),
    include_str!("../../table/04-partitioned.txt"),
    include_str!("../../table/05-datatypes.txt"),
    include_str!("../../table/06-collective.txt"),
    include_str!("../../table/07-communicators.txt"),
    include_str!("../../table/08-topologies.txt"),
    include_str!("../../table/09-environment.txt"),
    include_str!("../../table/10-info.txt"),
    include_str!("../../table/11-processes.txt"),
    include_str!("../../table/12-one-sided.txt"),
    include_str!("../../table/13-external.txt"),
    include_str!("../../table/14-io.txt"),
    include_str!("../../table/15-tools.txt"),
    include_str!("../../table/16-deprecated.txt"),
    include_str!("../../table/19-languages.txt"),
    include_str!("../../table/20-abi.txt"),
];
