//! What the internal words of `MPI_Status` hold, and places for statuses.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

use weft_abi::MPI_Status;
use weft_error::Class;
use weft_error::argument;
use weft_messages::Status;
use weft_objects::ANY_SOURCE;

use crate::argument::Length;
use crate::entry::{Error, FromC, Result};
use crate::foreign;

/// The words: bytes received, low and high half; whether the request was cancelled; its error code.
const BYTES_LOW: usize = 0;
const BYTES_HIGH: usize = 1;
const CANCELLED: usize = 2;
const CODE: usize = 3;

#[inline]
pub fn is_cancelled(status: &MPI_Status) -> bool {
    status.MPI_internal[CANCELLED] != 0
}

#[inline]
pub fn set_cancelled(status: &mut MPI_Status, cancelled: bool) {
    status.MPI_internal[CANCELLED] = cancelled.into();
}

/// Packed length of the message.
#[inline]
pub fn bytes(status: &MPI_Status) -> u64 {
    let [low, high] = [BYTES_LOW, BYTES_HIGH].map(|word| status.MPI_internal[word] as u32);
    u64::from(low) | u64::from(high) << 32
}

#[inline]
pub fn set_bytes(status: &mut MPI_Status, bytes: u64) {
    status.MPI_internal[BYTES_LOW] = bytes as c_int;
    status.MPI_internal[BYTES_HIGH] = (bytes >> 32) as c_int;
}

/// Stores an outcome. `MPI_ERROR` is left alone (MPI-5.0 §3.2.5) but in an empty status, where it is part of the
/// definition (§3.7.3).
#[inline]
fn store(place: &mut MPI_Status, status: &Status) {
    if status.source == ANY_SOURCE {
        place.MPI_ERROR = status.code;
    }
    place.MPI_SOURCE = status.source;
    place.MPI_TAG = status.tag;
    set_bytes(place, status.bytes);
    set_cancelled(place, status.cancelled);
    place.MPI_internal[CODE] = status.code;
}

/// What a function of the program's has stored in an empty status.
pub fn filled(fill: impl FnMut(*mut MPI_Status) -> c_int) -> (c_int, Status) {
    let mut place = MPI_Status::default();
    store(&mut place, &Status::EMPTY);
    let code = foreign::change(&mut place, fill);
    let status = Status::said(
        place.MPI_SOURCE,
        place.MPI_TAG,
        bytes(&place),
        is_cancelled(&place),
    );
    (code, status)
}

/// A place for a status, or `MPI_STATUS_IGNORE`.
pub struct OutStatus(Option<NonNull<MPI_Status>>);

impl OutStatus {
    #[inline]
    pub fn set(self, status: &Status) {
        if let Some(mut place) = self.0 {
            // SAFETY: `from_c` took a valid address, and an OutStatus does not outlive the call.
            store(unsafe { place.as_mut() }, status);
        }
    }

    /// Stores the outcome of the call's one operation, whose error is the call's.
    #[inline]
    pub fn complete(self, status: Status) -> Result<()> {
        self.set(&status);
        status.check()
    }
}

impl FromC<*mut MPI_Status> for OutStatus {
    #[inline]
    unsafe fn from_c(raw: *mut MPI_Status, _: &'static str) -> Result<OutStatus> {
        Ok(OutStatus(NonNull::new(raw)))
    }
}

/// An array of statuses to be filled in, or `MPI_STATUSES_IGNORE`. The standard asks for as many as the call has
/// requests.
pub struct OutStatuses<'a> {
    first: Option<NonNull<MPI_Status>>,
    call: PhantomData<&'a mut MPI_Status>,
}

impl<'a> OutStatuses<'a> {
    /// The places: none if they are ignored.
    #[inline]
    pub fn slice(self, length: Length) -> Places<'a> {
        Places(self.first.map(|first| {
            // SAFETY: not null, so an array of the caller's with as many statuses; no other access during the call.
            unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), length.0) }
        }))
    }
}

impl FromC<*mut MPI_Status> for OutStatuses<'_> {
    #[inline]
    unsafe fn from_c(raw: *mut MPI_Status, _: &'static str) -> Result<Self> {
        Ok(OutStatuses {
            first: NonNull::new(raw),
            call: PhantomData,
        })
    }
}

/// Places for the statuses of several requests.
pub struct Places<'a>(Option<&'a mut [MPI_Status]>);

impl Places<'_> {
    /// Whether nobody wants the statuses.
    #[inline]
    pub fn are_ignored(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub fn set(&mut self, index: usize, status: &Status) {
        if let Some(places) = &mut self.0 {
            store(&mut places[index], status);
        }
    }

    /// Passes the call's result on. Where that is `MPI_ERR_IN_STATUS`, and only there, the first `count` statuses get
    /// their `MPI_ERROR` (MPI-5.0 §3.7.5).
    #[inline]
    pub fn finish<T>(self, count: usize, result: Result<T>) -> Result<T> {
        if let Err(error) = &result
            && error.class == Class::InStatus
            && let Some(places) = self.0
        {
            for place in &mut places[..count] {
                place.MPI_ERROR = place.MPI_internal[CODE];
            }
        }
        result
    }
}

#[cold]
#[inline(never)]
fn no_status(name: &str) -> Error {
    let what = "MPI_STATUS_IGNORE or null, and the function needs a status";
    argument(Class::Arg, name, what)
}

impl FromC<*const MPI_Status> for &MPI_Status {
    unsafe fn from_c(raw: *const MPI_Status, name: &'static str) -> Result<Self> {
        // SAFETY: not null, so a status of the caller's, valid during the call.
        unsafe { raw.as_ref() }.ok_or_else(|| no_status(name))
    }
}

impl FromC<*mut MPI_Status> for &mut MPI_Status {
    unsafe fn from_c(raw: *mut MPI_Status, name: &'static str) -> Result<Self> {
        // SAFETY: as above; the standard forbids other accesses during the call.
        unsafe { raw.as_mut() }.ok_or_else(|| no_status(name))
    }
}
