//! Performance variables, by index and by name.

use weft_error::Result;

use super::codes::{Code, error, indexed};
use super::state::enter;

pub use super::variables::{ALL, Class, Enumeration, Variable, WAITING};

/// `MPI_T_pvar_get_info`.
pub fn at(index: i32) -> Result<&'static Variable> {
    enter()?;
    indexed(&ALL, index)
}

/// `MPI_T_pvar_get_index`: a name is unique within its class.
pub fn index(name: &[u8], class: i32) -> Result<i32> {
    enter()?;
    let found = ALL
        .iter()
        .position(|variable| variable.name.as_bytes() == name && variable.class as i32 == class);
    found
        .map(|index| index as i32)
        .ok_or_else(|| error(Code::InvalidName))
}
