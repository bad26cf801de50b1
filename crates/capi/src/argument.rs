//! Parameters that are no handles and no arrays: integers, addresses and places for results.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use weft_abi::{MPI_IN_PLACE, MPI_UNDEFINED};
use weft_mpi::point_to_point::Buffer;
use weft_mpi::{Class, TypeId};

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
    c_int => i64,
    i64 => i64,
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

impl<T> FromC<*mut T> for *mut T {
    #[inline]
    unsafe fn from_c(raw: *mut T, _: &'static str) -> Result<*mut T> {
        Ok(raw)
    }
}

#[inline]
pub fn non_null<T>(raw: *mut T, name: &'static str) -> Result<NonNull<T>> {
    NonNull::new(raw).ok_or_else(|| null_pointer(name))
}

#[cold]
#[inline(never)]
pub fn null_pointer(name: &str) -> Error {
    Error::new(Class::Arg, format!("{name}: a null pointer"))
}

/// A number of elements, not negative.
#[derive(Clone, Copy)]
pub struct Length(pub usize);

impl<C: Copy> FromC<C> for Length
where
    i64: FromC<C>,
{
    #[inline]
    unsafe fn from_c(raw: C, name: &'static str) -> Result<Length> {
        // SAFETY: by this function's contract.
        let number = unsafe { i64::from_c(raw, name)? };
        match usize::try_from(number) {
            Ok(length) => Ok(Length(length)),
            Err(_) => Err(negative(number, name)),
        }
    }
}

#[cold]
#[inline(never)]
fn negative(number: i64, name: &str) -> Error {
    // MPI_ERR_COUNT is for what the standard calls a count (§9.4).
    let class = match name.ends_with("count") {
        true => Class::Count,
        false => Class::Arg,
    };
    Error::new(class, format!("{name}: {number} is negative"))
}

/// The address of a message's data.
#[derive(Clone, Copy)]
pub struct Address(*mut u8);

impl Address {
    #[inline]
    pub fn pointer(self) -> *mut u8 {
        self.0
    }

    #[inline]
    pub fn buffer(self, count: i64, datatype: TypeId) -> Buffer {
        Buffer {
            address: self.0,
            count,
            datatype,
        }
    }

    /// Writes where the caller has room for as much.
    pub fn store(self, name: &'static str, bytes: &[u8]) -> Result<()> {
        let place = non_null(self.0, name)?;
        // SAFETY: not null, so memory of the caller's of the length that the call gave.
        unsafe { place.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        Ok(())
    }

    #[inline]
    pub fn is_in_place(self) -> bool {
        self.0 == MPI_IN_PLACE.cast()
    }

    /// None for `MPI_IN_PLACE`, which makes count and datatype meaningless.
    #[inline]
    pub fn buffer_unless_in_place(self, count: i64, datatype: TypeId) -> Option<Buffer> {
        (!self.is_in_place()).then(|| self.buffer(count, datatype))
    }
}

impl FromC<*const c_void> for Address {
    #[inline]
    unsafe fn from_c(raw: *const c_void, _: &'static str) -> Result<Address> {
        Ok(Address(raw.cast_mut().cast()))
    }
}

impl FromC<*mut c_void> for Address {
    #[inline]
    unsafe fn from_c(raw: *mut c_void, _: &'static str) -> Result<Address> {
        Ok(Address(raw.cast()))
    }
}

impl<'a> FromC<*const c_char> for &'a CStr {
    #[inline]
    unsafe fn from_c(raw: *const c_char, name: &'static str) -> Result<&'a CStr> {
        let text = non_null(raw.cast_mut(), name)?;
        // SAFETY: not null, so a terminated string of the caller's, valid during the call.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) })
    }
}

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

impl<T: Output> FromC<*mut T::C> for Out<T> {
    #[inline]
    unsafe fn from_c(raw: *mut T::C, name: &'static str) -> Result<Out<T>> {
        Ok(Out(non_null(raw, name)?))
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
        if let OutCount::Int(_) = self
            && c_int::try_from(value).is_err()
        {
            let text = format!("{value} does not fit an int; use the large-count form");
            return Err(Error::new(Class::ValueTooLarge, text));
        }
        self.set(Some(value));
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

/// The program's arguments, or null.
pub struct Strings(*mut *mut c_char);

impl Strings {
    /// The first `length` of them; fewer if the list ends before, as `argv` does by a null pointer.
    pub fn list<'a>(self, length: Length) -> Vec<&'a CStr> {
        let mut list = Vec::new();
        if self.0.is_null() {
            return list;
        }
        for index in 0..length.0 {
            // SAFETY: not null, so an array of as many pointers of the caller's, none null up to this one.
            let text = unsafe { self.0.add(index).read() };
            if text.is_null() {
                break;
            }
            // SAFETY: not null, so a terminated string of the caller's, valid during the call.
            list.push(unsafe { CStr::from_ptr(text) });
        }
        list
    }
}

impl FromC<*mut *mut c_char> for Strings {
    unsafe fn from_c(raw: *mut *mut c_char, _: &'static str) -> Result<Strings> {
        Ok(Strings(raw))
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
