//! Strings: in Fortran an address and a length, padded with blanks (MPI-5.0 §19.3.9).

use std::ffi::{CString, c_char, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// A string without its trailing blanks, as C has it. What stands behind a null is not seen by C.
///
/// # Safety
/// `length` characters stand at the address.
pub unsafe fn trimmed(address: *const c_void, length: usize) -> CString {
    // SAFETY: by this function's contract.
    let text = unsafe { characters(address, length) };
    terminated(without_trailing(text))
}

/// A string without blanks at either end.
///
/// # Safety
/// `length` characters stand at the address.
pub unsafe fn stripped(address: *const c_void, length: usize) -> CString {
    // SAFETY: by this function's contract.
    let text = without_trailing(unsafe { characters(address, length) });
    let begin = text.iter().take_while(|&&one| one == b' ').count();
    terminated(&text[begin..])
}

/// # Safety
/// `length` characters stand at the address.
unsafe fn characters<'a>(address: *const c_void, length: usize) -> &'a [u8] {
    match length {
        0 => &[],
        // SAFETY: by this function's contract.
        _ => unsafe { from_raw_parts(address.cast(), length) },
    }
}

fn without_trailing(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|&&one| one == b' ').count();
    &text[..text.len() - blanks]
}

fn terminated(text: &[u8]) -> CString {
    let end = text.iter().position(|&one| one == 0);
    CString::new(&text[..end.unwrap_or(text.len())]).expect("it ends before the first null")
}

/// Where C stores a string of less than `N` characters.
pub struct Room<const N: usize>([u8; N]);

impl<const N: usize> Room<N> {
    pub fn new() -> Room<N> {
        Room([0; N])
    }

    pub fn as_mut_ptr(&mut self) -> *mut c_char {
        self.0.as_mut_ptr().cast()
    }

    /// Stores what C has stored in a string of Fortran's.
    ///
    /// # Safety
    /// `length` characters stand at the address.
    pub unsafe fn store(&self, address: *mut c_void, length: usize) {
        // SAFETY: by this function's contract.
        unsafe { store(&self.0, address, length) }
    }
}

/// Stores what stands before a null, as much of it as there is room, and blanks behind it.
///
/// # Safety
/// `length` characters stand at the address.
pub unsafe fn store(text: &[u8], address: *mut c_void, length: usize) {
    if length == 0 {
        return;
    }
    // SAFETY: by this function's contract.
    let place = unsafe { from_raw_parts_mut(address.cast::<u8>(), length) };
    let end = text.iter().position(|&one| one == 0).unwrap_or(text.len());
    let stored = end.min(length);
    place[..stored].copy_from_slice(&text[..stored]);
    place[stored..].fill(b' ');
}
