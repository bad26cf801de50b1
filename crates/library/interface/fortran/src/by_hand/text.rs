//! Routines that store a string in room whose size the program says.

use std::ffi::{c_int, c_void};

use crate::abi::*;
use weft_abi_macros::routine;

use crate::handle::Handle;
use crate::ierror;
use crate::routines::c;
use crate::string;

/// Room for so many characters and a null.
fn room(characters: c_int) -> Vec<u8> {
    vec![0; usize::try_from(characters).unwrap_or(0) + 1]
}

#[routine]
unsafe extern "C" fn mpi_info_get_(
    info: *const c_void,
    key: *const c_void,
    valuelen: *const c_int,
    value: *mut c_void,
    flag: *mut c_int,
    ierror: *mut c_int,
    key_length: usize,
    value_length: usize,
) {
    // SAFETY: Fortran's caller passes what the standard asks of each parameter.
    unsafe {
        let key = string::stripped(key, key_length);
        let mut text = room(*valuelen);
        let place = text.as_mut_ptr().cast();
        let info = MPI_Info::of_fortran(info);
        let code = c::MPI_Info_get(info, key.as_ptr(), *valuelen, place, flag);
        if code == MPI_SUCCESS && *flag != 0 {
            string::store(&text, value, value_length);
        }
        ierror::store(ierror, code);
    }
}

/// The length does not count a null, which Fortran's strings do not have: C's does (MPI-5.0 §10).
#[routine]
unsafe extern "C" fn mpi_info_get_string_(
    info: *const c_void,
    key: *const c_void,
    buflen: *mut c_int,
    value: *mut c_void,
    flag: *mut c_int,
    ierror: *mut c_int,
    key_length: usize,
    value_length: usize,
) {
    // SAFETY: as above.
    unsafe {
        let key = string::stripped(key, key_length);
        let mut text = room(*buflen);
        let mut size = with_null(*buflen);
        let info = MPI_Info::of_fortran(info);
        let place = text.as_mut_ptr().cast();
        let code = c::MPI_Info_get_string(info, key.as_ptr(), &mut size, place, flag);
        if code == MPI_SUCCESS && *flag != 0 {
            if *buflen > 0 {
                string::store(&text, value, value_length);
            }
            *buflen = size - 1;
        }
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_session_get_nth_pset_(
    session: *const c_void,
    info: *const c_void,
    n: *const c_int,
    pset_len: *mut c_int,
    pset_name: *mut c_void,
    ierror: *mut c_int,
    pset_name_length: usize,
) {
    // SAFETY: as above.
    unsafe {
        let mut text = room(*pset_len);
        let mut size = with_null(*pset_len);
        let (session, info) = (MPI_Session::of_fortran(session), MPI_Info::of_fortran(info));
        let place = text.as_mut_ptr().cast();
        let code = c::MPI_Session_get_nth_pset(session, info, *n, &mut size, place);
        if code == MPI_SUCCESS {
            if *pset_len > 0 {
                string::store(&text, pset_name, pset_name_length);
            }
            *pset_len = size - 1;
        }
        ierror::store(ierror, code);
    }
}

/// A length of Fortran's as C has it; 0, which asks for the length alone, stays.
fn with_null(length: c_int) -> c_int {
    match length {
        1.. => length.saturating_add(1),
        _ => length,
    }
}
