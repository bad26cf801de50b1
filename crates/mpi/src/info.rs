//! Info objects: ordered pairs of strings (MPI-5.0 chapter 10).

use std::sync::{Arc, Mutex};

use crate::error::handler::argument;
use crate::error::{Class, Result};
use crate::process::process;

/// The longest key and value, without a terminating null.
pub const KEY_BYTES: usize = 255;
pub const VALUE_BYTES: usize = 1023;

/// Names an info object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoId(pub u64);

/// An info object's pairs, in the order in which their keys were first set.
#[derive(Debug, Default)]
pub struct Info(Mutex<Vec<(String, String)>>);
