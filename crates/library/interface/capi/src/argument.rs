//! Parameters that are no handles, no arrays and no places for results: integers, addresses, strings.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use weft_abi::MPI_IN_PLACE;
use weft_error::Class;
use weft_error::argument;
use weft_objects::TypeId;
use weft_objects::types::Buffer;

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

/// `MPI_Aint`, as wide as `MPI_Count`.
impl FromC<isize> for i64 {
    #[inline]
    unsafe fn from_c(raw: isize, _: &'static str) -> Result<i64> {
        Ok(raw as i64)
    }
}

const _: () = assert!(size_of::<isize>() == size_of::<i64>());

/// A number of elements, which remembers what form of the function it came in.
#[derive(Clone, Copy)]
pub struct Count {
    pub value: usize,
    pub large: bool,
}

/// A displacement or stride in bytes, which remembers what form of the function it came in.
#[derive(Clone, Copy)]
pub struct Displacement {
    pub value: isize,
    pub large: bool,
}

macro_rules! counts {
    ($($c:ty => $large:literal,)*) => {$(
        impl FromC<$c> for Count {
            unsafe fn from_c(raw: $c, name: &'static str) -> Result<Count> {
                // SAFETY: by this function's contract.
                let Length(value) = unsafe { Length::from_c(raw, name)? };
                Ok(Count { value, large: $large })
            }
        }
    )*};
}

counts! {
    c_int => false,
    i64 => true,
}

impl FromC<isize> for Displacement {
    unsafe fn from_c(raw: isize, _: &'static str) -> Result<Displacement> {
        Ok(Displacement {
            value: raw,
            large: false,
        })
    }
}

impl FromC<i64> for Displacement {
    unsafe fn from_c(raw: i64, _: &'static str) -> Result<Displacement> {
        Ok(Displacement {
            value: raw as isize,
            large: true,
        })
    }
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
    argument(Class::Arg, name, "a null pointer")
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
    argument(class, name, format_args!("{number} is negative"))
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

    /// Reads what the call says is there.
    pub fn load<const BYTES: usize>(self, name: &'static str) -> Result<[u8; BYTES]> {
        let place = non_null(self.0, name)?;
        // SAFETY: not null, so memory of the caller's of as many bytes. C does not say that it is aligned.
        Ok(unsafe { place.cast::<[u8; BYTES]>().read_unaligned() })
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
