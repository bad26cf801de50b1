//! The names of libmpi_abi.so.

use std::collections::{BTreeMap, BTreeSet};

use weft_abi::table::{self, Function};

use super::rules::{MAY_NEED, dependencies, names};

pub const SONAME: &str = "libmpi_abi.so.1";
/// What libmpifort_abi calls beside MPI's functions.
const FOR_FORTRAN: [&str; 3] = [
    "weft_calling_language",
    "weft_follow",
    "weft_type_in_section",
];

pub fn complaints(symbols: &BTreeMap<&str, &str>, dynamic: &str) -> Vec<String> {
    [
        names(symbols, &expected()),
        aliases(symbols),
        dependencies(dynamic, SONAME, &MAY_NEED),
    ]
    .concat()
}

pub fn expected() -> BTreeSet<String> {
    table::functions()
        .chain(&table::extensions().functions)
        .flat_map(Function::c_names)
        .flat_map(|name| [format!("P{name}"), name])
        .chain(FOR_FORTRAN.map(str::to_string))
        .collect()
}

pub fn aliases(symbols: &BTreeMap<&str, &str>) -> Vec<String> {
    let pairs = symbols.iter().filter_map(|(name, address)| {
        let twin = symbols.get(name.strip_prefix('P')?)?;
        (twin != address).then(|| format!("{name} and its MPI_ twin have two addresses"))
    });
    pairs.collect()
}
