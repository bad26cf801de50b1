//! Places for results.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

use weft_abi::MPI_UNDEFINED;
use weft_error::Class;

use crate::argument::non_null;
use crate::entry::{Error, FromC, Result};

/// What has a C form as a result.
pub trait Output {
    type C;
    fn into_c(self) -> Self::C;
}

macro_rules! plain_output {
    ($($rust:ty => $c:ty,)*) => {$(
        impl Output for $rust {
            type C = $c;
            #[inline]
            fn into_c(self) -> $c {
                self.into()
            }
        }
    )*};
}

plain_output! {
    c_int => c_int,
    isize => isize,
    i64 => i64,
    bool => c_int,
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

/// A place in which a result is stored once an operation is complete.
pub struct Later<T: Output>(NonNull<T::C>);

// SAFETY: the program leaves the place to the operation until its request is complete (MPI-5.0 §3.7.2), whichever thread
// stores the result.
unsafe impl<T: Output> Send for Later<T> {}

impl<T: Output> Out<T> {
    /// The same, for after the call.
    pub fn later(self) -> Later<T> {
        Later(self.0)
    }
}

impl<T: Output> Later<T> {
    pub fn set(self, value: T) {
        // SAFETY: it is valid until the operation is complete.
        unsafe { self.0.write(value.into_c()) }
    }
}

impl<T: Output> FromC<*mut T::C> for Out<T> {
    #[inline]
    unsafe fn from_c(raw: *mut T::C, name: &'static str) -> Result<Out<T>> {
        Ok(Out(non_null(raw, name)?))
    }
}

/// A place that may be missing.
impl<T: Output> FromC<*mut T::C> for Option<Out<T>> {
    unsafe fn from_c(raw: *mut T::C, _: &'static str) -> Result<Option<Out<T>>> {
        Ok(NonNull::new(raw).map(Out))
    }
}

/// A place for a number that is an `int` in one form of the function and 64 bits wide in the other.
pub enum OutCount {
    Int(NonNull<c_int>),
    Large(NonNull<i64>),
}

impl OutCount {
    /// Stores the number, or `MPI_UNDEFINED` if there is none or the place is too small for it (MPI-5.0 §3.2.5,
    /// §5.1.5).
    #[inline]
    pub fn set(self, value: Option<i64>) {
        let value = value.unwrap_or(i64::from(MPI_UNDEFINED));
        match self {
            OutCount::Int(place) => {
                let value = c_int::try_from(value).unwrap_or(MPI_UNDEFINED);
                // SAFETY: `from_c` took a valid address, and an OutCount does not outlive the call.
                unsafe { place.write(value) }
            }
            // SAFETY: as above.
            OutCount::Large(place) => unsafe { place.write(value) },
        }
    }

    /// Stores a number that the place must hold (`MPI_ERR_VALUE_TOO_LARGE`).
    pub fn set_exact(self, value: i64) -> Result<()> {
        self.holds(value)?;
        self.set(Some(value));
        Ok(())
    }

    /// Whether the place holds a number (`MPI_ERR_VALUE_TOO_LARGE`).
    pub fn holds(&self, value: i64) -> Result<()> {
        if let OutCount::Int(_) = self
            && c_int::try_from(value).is_err()
        {
            let text = format!("{value} does not fit an int; use the large-count form");
            return Err(Error::new(Class::ValueTooLarge, text));
        }
        Ok(())
    }
}

impl FromC<*mut c_int> for OutCount {
    #[inline]
    unsafe fn from_c(raw: *mut c_int, name: &'static str) -> Result<OutCount> {
        Ok(OutCount::Int(non_null(raw, name)?))
    }
}

impl FromC<*mut i64> for OutCount {
    #[inline]
    unsafe fn from_c(raw: *mut i64, name: &'static str) -> Result<OutCount> {
        Ok(OutCount::Large(non_null(raw, name)?))
    }
}

impl FromC<*mut isize> for OutCount {
    #[inline]
    unsafe fn from_c(raw: *mut isize, name: &'static str) -> Result<OutCount> {
        Ok(OutCount::Large(non_null(raw, name)?.cast()))
    }
}

const _: () = assert!(size_of::<isize>() == size_of::<i64>());

/// A length that goes in and comes out.
pub struct InOutInt(NonNull<c_int>);

impl InOutInt {
    pub fn get(&self) -> c_int {
        // SAFETY: `from_c` took a valid address, and an InOutInt does not outlive the call.
        unsafe { self.0.read() }
    }

    pub fn set(self, value: c_int) {
        // SAFETY: as above.
        unsafe { self.0.write(value) }
    }
}

impl FromC<*mut c_int> for InOutInt {
    unsafe fn from_c(raw: *mut c_int, name: &'static str) -> Result<InOutInt> {
        Ok(InOutInt(non_null(raw, name)?))
    }
}

/// A length of no interest where it is null.
impl FromC<*mut c_int> for Option<InOutInt> {
    unsafe fn from_c(raw: *mut c_int, _: &'static str) -> Result<Option<InOutInt>> {
        Ok(NonNull::new(raw).map(InOutInt))
    }
}

/// A position that goes in and comes out, of `int` in one form of the function and 64 bits wide in the other.
pub struct InOutCount(OutCount);

impl InOutCount {
    pub fn get(&self) -> i64 {
        match self.0 {
            // SAFETY: `from_c` took a valid address, and an InOutCount does not outlive the call.
            OutCount::Int(place) => unsafe { place.read().into() },
            // SAFETY: as above.
            OutCount::Large(place) => unsafe { place.read() },
        }
    }

    pub fn set(self, value: i64) -> Result<()> {
        self.0.set_exact(value)
    }
}

impl<C> FromC<*mut C> for InOutCount
where
    OutCount: FromC<*mut C>,
{
    unsafe fn from_c(raw: *mut C, name: &'static str) -> Result<InOutCount> {
        // SAFETY: by this function's contract.
        unsafe { OutCount::from_c(raw, name).map(InOutCount) }
    }
}

/// A place where the function stores an address; the C type hides that it is one.
pub struct OutAddress(NonNull<*const c_void>);

impl OutAddress {
    pub fn set(self, address: *const c_void) {
        // SAFETY: `from_c` took a valid address, and an OutAddress does not outlive the call. C does not say that the
        // place is aligned, since its type is `void`.
        unsafe { self.0.write_unaligned(address) }
    }
}

impl OutAddress {
    /// Stores an attribute's value, if it has one, and whether it has.
    pub fn set_word(self, value: Option<usize>, flag: Out<bool>) {
        flag.set(value.is_some());
        if let Some(value) = value {
            self.set(std::ptr::with_exposed_provenance(value));
        }
    }
}

impl FromC<*mut c_void> for OutAddress {
    unsafe fn from_c(raw: *mut c_void, name: &'static str) -> Result<OutAddress> {
        Ok(OutAddress(non_null(raw, name)?.cast()))
    }
}

/// A place where the function stores a string.
pub struct OutString(NonNull<c_char>);

impl OutString {
    /// Stores as much of `text` as a buffer of `size` bytes holds, with the terminating null, and returns how many
    /// characters that is.
    pub fn set(self, text: &[u8], size: c_int) -> c_int {
        let room = usize::try_from(size).unwrap_or(0).saturating_sub(1);
        let length = room.min(text.len());
        // SAFETY: the standard asks for `size` bytes (MPI_MAX_...) at the address, and `length` is below `size`.
        unsafe {
            self.0
                .copy_from_nonoverlapping(NonNull::from(text).cast(), length);
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

/// Null where the call says that there is no room for a string.
impl FromC<*mut c_char> for Option<OutString> {
    unsafe fn from_c(raw: *mut c_char, _: &'static str) -> Result<Option<OutString>> {
        Ok(NonNull::new(raw).map(OutString))
    }
}
