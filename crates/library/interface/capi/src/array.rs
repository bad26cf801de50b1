//! Array parameters. How long an array is, another parameter says, and the standard asks the caller for one that long.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

use weft_abi::{MPI_Datatype, MPI_Request};
use weft_collective_calls::Counts;
use weft_error::Class;
use weft_error::argument;
use weft_messages::Request;

use crate::argument::{Length, null_pointer};
use crate::entry::{FromC, Result};

/// An array that the function reads. `T` has the layout of the C type.
pub struct Array<'a, T> {
    address: *const T,
    name: &'static str,
    call: PhantomData<&'a T>,
}

impl<'a, T> Array<'a, T> {
    /// Whether a special address was passed in place of an array.
    pub fn is_at(&self, special: *const T) -> bool {
        self.address == special
    }

    /// The elements: `length` is what the call gives as the array's length.
    #[inline]
    pub fn slice(self, length: Length) -> Result<&'a [T]> {
        if length.0 == 0 {
            return Ok(&[]);
        }
        if self.address.is_null() {
            return Err(null_pointer(self.name));
        }
        // SAFETY: not null, so an array of the caller's with as many elements, valid during the call.
        Ok(unsafe { std::slice::from_raw_parts(self.address, length.0) })
    }
}

/// An array that the function writes, or changes in place.
pub struct ArrayMut<'a, T> {
    address: *mut T,
    name: &'static str,
    call: PhantomData<&'a mut T>,
}

impl<'a, T> ArrayMut<'a, T> {
    /// Whether a special address was passed in place of an array.
    pub fn is_at(&self, special: *const T) -> bool {
        self.address.cast_const() == special
    }

    /// The elements: `length` is what the call gives as the array's length.
    #[inline]
    pub fn slice(self, length: Length) -> Result<&'a mut [T]> {
        if length.0 == 0 {
            return Ok(&mut []);
        }
        if self.address.is_null() {
            return Err(null_pointer(self.name));
        }
        // SAFETY: not null, so an array of the caller's with as many elements; no other access during the call.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address, length.0) })
    }
}

macro_rules! arrays {
    ($($c:ty => $rust:ty,)*) => {$(
        const _: () = assert!(size_of::<$c>() == size_of::<$rust>() && align_of::<$c>() == align_of::<$rust>());

        impl FromC<*const $c> for Array<'_, $rust> {
            #[inline]
            unsafe fn from_c(raw: *const $c, name: &'static str) -> Result<Self> {
                Ok(Array { address: raw.cast(), name, call: PhantomData })
            }
        }

        impl FromC<*mut $c> for ArrayMut<'_, $rust> {
            #[inline]
            unsafe fn from_c(raw: *mut $c, name: &'static str) -> Result<Self> {
                Ok(ArrayMut { address: raw.cast(), name, call: PhantomData })
            }
        }
    )*};
}

arrays! {
    c_int => c_int,
    i64 => i64,
    isize => isize,
    // The handles' numbers.
    MPI_Datatype => usize,
    [c_int; 3] => [c_int; 3],
    // A request is its handle's number, so that arrays of them are worked on in place.
    MPI_Request => Request,
}

impl<'a> FromC<*mut MPI_Request> for &'a mut Request {
    #[inline]
    unsafe fn from_c(raw: *mut MPI_Request, name: &'static str) -> Result<&'a mut Request> {
        match NonNull::new(raw.cast::<Request>()) {
            // SAFETY: not null, so a request of the caller's; no other access during the call. The layout is the same.
            Some(mut request) => Ok(unsafe { request.as_mut() }),
            None => Err(null_pointer(name)),
        }
    }
}

/// An array of counts or displacements, of `int` in one form of the function and of 64-bit numbers in the other.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    address: Width,
    name: &'static str,
    call: PhantomData<&'a i64>,
}

#[derive(Clone, Copy)]
enum Width {
    Int(*const c_int),
    Large(*const i64),
}

impl<'a> Numbers<'a> {
    /// Whether they came in the large-count form of the function.
    pub fn is_large(&self) -> bool {
        matches!(self.address, Width::Large(_))
    }

    /// The numbers: `length` is what the call gives as the array's length.
    pub fn list(self, length: Length) -> Result<Vec<i64>> {
        let numbers = match length.0 {
            0 => return Ok(Vec::new()),
            _ => self.counts(length.0)?,
        };
        Ok(match numbers {
            Counts::Int(numbers) => {
                weft_reserve::collected(numbers.iter().copied().map(i64::from))?
            }
            Counts::Large(numbers) => weft_reserve::collected(numbers.iter().copied())?,
        })
    }

    /// As [`list`](Self::list), none below `least`.
    pub fn list_from(self, least: i64, length: Length) -> Result<Vec<usize>> {
        let numbers = self.list(length)?;
        if let Some(index) = numbers.iter().position(|&number| number < least) {
            let name = format!("{}[{index}]", self.name);
            let what = format_args!("{} is below {least}", numbers[index]);
            return Err(argument(Class::Arg, &name, what));
        }
        Ok(numbers.into_iter().map(|number| number as usize).collect())
    }

    /// As [`list`](Self::list), as they came.
    #[inline]
    pub fn counts(self, length: usize) -> Result<Counts<'a>> {
        if length == 0 {
            return Ok(Counts::from(&[0i64; 0][..]));
        }
        let is_null = match self.address {
            Width::Int(address) => address.is_null(),
            Width::Large(address) => address.is_null(),
        };
        if is_null {
            return Err(null_pointer(self.name));
        }
        // SAFETY of both: not null, so an array of the caller's with as many elements, valid during the call.
        Ok(match self.address {
            Width::Int(address) => {
                // SAFETY: as above.
                Counts::from(unsafe { std::slice::from_raw_parts(address, length) })
            }
            Width::Large(address) => {
                // SAFETY: as above.
                Counts::from(unsafe { std::slice::from_raw_parts(address, length) })
            }
        })
    }
}

macro_rules! numbers {
    ($($c:ty => $width:ident,)*) => {$(
        impl FromC<*const $c> for Numbers<'_> {
            #[inline]
            unsafe fn from_c(raw: *const $c, name: &'static str) -> Result<Self> {
                Ok(Numbers { address: Width::$width(raw.cast()), name, call: PhantomData })
            }
        }
    )*};
}

numbers! {
    c_int => Int,
    i64 => Large,
    // MPI_Aint, as wide as MPI_Count.
    isize => Large,
}
