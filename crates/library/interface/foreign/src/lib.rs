//! What libraries with another ABI have in common: values, places and arrays are converted by kinds.
//!
//! Two modules in `families` are parts of each such library, for they use its kinds by their names: functions that are
//! written by hand, and those that the standard removed.

pub mod convert;
mod values;
