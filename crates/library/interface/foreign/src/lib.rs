//! What libraries with another ABI have in common: values, places and arrays are converted by kinds.
//!
//! The modules in `families` are parts of each such library, for they use its kinds by their names: functions that are
//! written by hand, those that the standard removed, kinds that differ by a number, and what the engine is told of the program.

pub mod convert;
mod values;
