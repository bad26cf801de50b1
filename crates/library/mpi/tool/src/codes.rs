//! Error codes and levels of detail, and how things are looked up by index and name.

use weft_error::{Class, Error, Result};

/// The interface's error codes (MPI-5.0 §15.3.10), with the ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    NotInitialized = 1003,
    Invalid = 1006,
    InvalidIndex = 1007,
    InvalidItem = 1008,
    InvalidSession = 1009,
    InvalidHandle = 1010,
    InvalidName = 1011,
    ControlSetNever = 1015,
    NoWrite = 1016,
    NoStartStop = 1017,
}

#[cold]
pub fn error(code: Code) -> Error {
    Error::new(Class::Other, format!("{code:?}")).with_code(code as i32)
}

/// How much a variable is for whom (MPI-5.0 §15.3.1), with the ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Verbosity {
    UserBasic = 0x9,
    TunerBasic = 0x11,
    TunerDetail = 0x12,
    DeveloperBasic = 0x21,
}

/// The index of what has a name.
pub(super) fn named<'a>(names: impl IntoIterator<Item = &'a str>, name: &[u8]) -> Result<usize> {
    let mut names = names.into_iter();
    let found = names.position(|candidate| candidate.as_bytes() == name);
    found.ok_or_else(|| error(Code::InvalidName))
}

/// What has an index.
pub(super) fn indexed<T>(list: &[T], index: i32) -> Result<&T> {
    let place = usize::try_from(index).ok();
    place
        .and_then(|index| list.get(index))
        .ok_or_else(|| error(Code::InvalidIndex))
}
