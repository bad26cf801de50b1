//! The plan against the papers, and types against their promises.

mod paper;
mod types;

use crate::*;
