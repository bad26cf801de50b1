//! Parameters that are no handles: integers, addresses and places for results.

use std::ffi::{c_char, c_int};
use std::ptr::NonNull;

use weft_abi::MPI_ERR_ARG;

use crate::entry::{Error, FromC, Result};

/// A type whose C form is itself or converts without loss.
macro_rules! plain {
    ($($c:ty => $rust:ty,)*) => {$(
        impl FromC<$c> for $rust {
            #[inline]
            unsafe fn from_c(raw: $c, _: &'static str) -> Result<$rust> {
                Ok(raw.into())
            }
        }
    )*};
}

plain! {
    c_int => c_int,
    isize => isize,
}

impl FromC<c_int> for bool {
    #[inline]
    unsafe fn from_c(raw: c_int, _: &'static str) -> Result<bool> {
        Ok(raw != 0)
    }
}

/// An address that may be anything, null and the special ones included.
impl<T> FromC<*const T> for *const T {
    #[inline]
    unsafe fn from_c(raw: *const T, _: &'static str) -> Result<*const T> {
        Ok(raw)
    }
}

#[inline]
fn non_null<T>(raw: *mut T, name: &'static str) -> Result<NonNull<T>> {
    NonNull::new(raw).ok_or_else(|| null_pointer(name))
}

#[cold]
#[inline(never)]
fn null_pointer(name: &str) -> Error {
    Error::new(MPI_ERR_ARG, format!("`{name}` is a null pointer"))
}

/// What has a C form as a result.
pub trait Output {
    type C;
    fn into_c(self) -> Self::C;
}

impl Output for c_int {
    type C = c_int;
    #[inline]
    fn into_c(self) -> c_int {
        self
    }
}

impl Output for isize {
    type C = isize;
    #[inline]
    fn into_c(self) -> isize {
        self
    }
}

impl Output for bool {
    type C = c_int;
    #[inline]
    fn into_c(self) -> c_int {
        self.into()
    }
}

/// A place where the function stores a result.
pub struct Out<T: Output>(NonNull<T::C>);

impl<T: Output> Out<T> {
    #[inline]
    pub fn set(self, value: T) {
        // SAFETY: `from_c` took a valid address, and an Out does not outlive the call.
        unsafe { self.0.write(value.into_c()) }
    }
}

impl<T: Output> FromC<*mut T::C> for Out<T> {
    #[inline]
    unsafe fn from_c(raw: *mut T::C, name: &'static str) -> Result<Out<T>> {
        Ok(Out(non_null(raw, name)?))
    }
}

/// A place where the function stores a string.
pub struct OutString(NonNull<c_char>);

impl OutString {
    /// Stores as much of `text` as a buffer of `size` bytes holds, with the terminating null, and returns how many
    /// characters that is.
    pub fn set(self, text: &str, size: c_int) -> c_int {
        let room = usize::try_from(size).unwrap_or(0).saturating_sub(1);
        let length = text.floor_char_boundary(room.min(text.len()));
        // SAFETY: the standard asks for `size` bytes (MPI_MAX_...) at the address, and `length` is below `size`.
        unsafe {
            self.0
                .copy_from_nonoverlapping(NonNull::from(text.as_bytes()).cast(), length);
            self.0.add(length).write(0);
        }
        length as c_int
    }
}

impl FromC<*mut c_char> for OutString {
    unsafe fn from_c(raw: *mut c_char, name: &'static str) -> Result<OutString> {
        Ok(OutString(non_null(raw, name)?))
    }
}
