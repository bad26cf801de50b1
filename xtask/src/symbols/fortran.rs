//! The names of libmpifort_abi.so: those that compilers make of the routines in `mpif.h` and `mpi.f90`; and those of the libraries
//! for Fortran in place of others, which have more beside them.

use std::collections::{BTreeMap, BTreeSet};

use weft_abi::table;

use super::c::SONAME;
use super::rules::{MAY_NEED, dependencies, names};
use crate::fortran;

const FORTRAN_SONAME: &str = "libmpifort_abi.so.1";
/// The common blocks.
const BLOCKS: [&str; 6] = [
    "mpiweft",
    "mpiweft_",
    "MPIWEFT",
    "mpiweftc",
    "mpiweftc_",
    "MPIWEFTC",
];

pub fn complaints(symbols: &BTreeMap<&str, &str>, dynamic: &str) -> Vec<String> {
    let routines = routines();
    let expected: BTreeSet<String> = routines
        .iter()
        .flat_map(|name| manglings(name))
        .chain(f08_names())
        .chain(BLOCKS.map(str::to_string))
        .collect();
    let may_need: Vec<&str> = MAY_NEED.into_iter().chain([SONAME]).collect();
    let mut complaints = names(symbols, &expected);
    complaints.extend(several(symbols, &routines));
    complaints.extend(dependencies(dynamic, FORTRAN_SONAME, &may_need));
    complaints.extend(independent(dynamic, SONAME));
    complaints
}

/// Routines whose names are not all of one address.
fn several(symbols: &BTreeMap<&str, &str>, routines: &BTreeSet<String>) -> Vec<String> {
    let several = routines.iter().filter(|name| {
        let addresses: BTreeSet<_> = manglings(name)
            .into_iter()
            .filter_map(|name| symbols.get(name.as_str()))
            .collect();
        addresses.len() > 1
    });
    let several = several.map(|name| format!("the names of {name} have several addresses"));
    several.collect()
}

fn independent(dynamic: &str, library: &str) -> Option<String> {
    let needs = dynamic.contains(&format!("[{library}]"));
    (!needs).then(|| format!("does not need {library}"))
}

/// A library for Fortran in place of another one, and that for C which it needs.
pub struct Other {
    soname: &'static str,
    c: &'static str,
}

pub const MPICH: Other = Other {
    soname: "libmpifort.so.12",
    c: "libmpi.so.12",
};

pub const OPENMPI: Other = Other {
    soname: "libmpi_mpifh.so.40",
    c: "libmpi.so.40",
};

/// Routines that the standard no longer has.
const REMOVED: [&str; 10] = [
    "mpi_address",
    "mpi_errhandler_create",
    "mpi_errhandler_get",
    "mpi_errhandler_set",
    "mpi_type_extent",
    "mpi_type_hindexed",
    "mpi_type_hvector",
    "mpi_type_lb",
    "mpi_type_struct",
    "mpi_type_ub",
];

impl Other {
    pub fn complaints(&self, symbols: &BTreeMap<&str, &str>, dynamic: &str) -> Vec<String> {
        let routines: BTreeSet<String> = table::functions()
            .filter(|function| function.has_fortran())
            .map(|function| format!("mpi_{}", function.name.to_lowercase()))
            .chain(REMOVED.map(str::to_string))
            .collect();
        let expected = routines.iter().flat_map(|name| manglings(name));
        let missing = expected.filter(|name| !symbols.contains_key(name.as_str()));
        let mut complaints: Vec<String> = missing
            .map(|name| format!("{name} is not exported"))
            .collect();
        let may_need: Vec<&str> = MAY_NEED.into_iter().chain([self.c]).collect();
        complaints.extend(several(symbols, &routines));
        complaints.extend(dependencies(dynamic, self.soname, &may_need));
        complaints.extend(independent(dynamic, self.c));
        complaints
    }
}

/// The procedures that the module declares, and the predefined ones that programs pass on, of `mpi_f08` too: in lower case, without
/// `P` and once; but those that carry a symbol of `mpi_f08`.
fn routines() -> BTreeSet<String> {
    let modules = (fortran::module() + &predefined()).to_lowercase();
    let names = modules.lines().filter_map(|line| {
        let line = line.trim();
        if line.contains("bind(c") {
            return None;
        }
        let head = ["subroutine ", "function ", "external :: "]
            .into_iter()
            .find_map(|word| line.strip_prefix(word))?;
        let name = head.split('(').next()?;
        let name = name.strip_prefix('p').unwrap_or(name);
        name.starts_with("mpi_").then(|| name.to_string())
    });
    names.collect()
}

/// The predefined procedures of `mpi_f08`, one a line.
fn predefined() -> String {
    let module = fortran::f08_module();
    let names = module
        .lines()
        .filter(|line| line.starts_with("  procedure("))
        .filter_map(|line| line.split_once(" :: "));
    names
        .map(|(_, name)| format!("external :: {name}\n"))
        .collect()
}

/// The symbols that `mpi_f08` calls. BIND(C) procedures carry theirs, compilers put an underscore behind the others.
fn f08_names() -> BTreeSet<String> {
    let module = fortran::f08_module().to_lowercase();
    let words = module.split(|end: char| !(end.is_alphanumeric() || end == '_'));
    let symbols = words.filter_map(|word| {
        let plain = word.trim_end_matches('_');
        let is_one = plain.ends_with("_f08") || plain.ends_with("_f08ts");
        is_one.then(|| format!("{}_", plain.trim_start_matches('p')))
    });
    symbols
        .filter(|symbol| symbol != "mpi_f08_")
        .flat_map(|symbol| [format!("p{symbol}"), symbol])
        .collect()
}

fn manglings(name: &str) -> Vec<String> {
    let of = |name: &str| {
        [
            name.to_string(),
            format!("{name}_"),
            format!("{name}__"),
            name.to_uppercase(),
        ]
    };
    [of(name), of(&format!("p{name}"))].concat()
}
