//! `MPI_COMM_SPAWN` and `MPI_COMM_SPAWN_MULTIPLE`, whose arguments are arrays of strings that end with a blank one (MPI-5.0
//! §11.8.2).

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::abi::*;
use weft_abi_macros::routine;

use crate::handle::{Handle, Handles};
use crate::ierror;
use crate::routines::c;
use crate::{sentinel, string};

/// Strings that stand `stride` characters apart, up to the first blank one or, if so, `limit`; and a null behind their addresses.
struct Strings {
    texts: Vec<CString>,
    addresses: Vec<*mut c_char>,
}

impl Strings {
    /// # Safety
    /// Such strings of `length` characters stand at the address.
    unsafe fn read(
        address: *const c_void,
        length: usize,
        stride: usize,
        limit: Option<usize>,
    ) -> Strings {
        let mut texts = Vec::new();
        while limit.is_none_or(|limit| texts.len() < limit) {
            // SAFETY: by this function's contract.
            let text = unsafe { string::stripped(address.byte_add(texts.len() * stride), length) };
            if limit.is_none() && text.is_empty() {
                break;
            }
            texts.push(text);
        }
        let addresses = texts.iter().map(|text| text.as_ptr().cast_mut());
        let addresses = addresses.chain([null_mut()]).collect();
        Strings { texts, addresses }
    }

    fn as_mut_ptr(&mut self) -> *mut *mut c_char {
        debug_assert_eq!(self.texts.len() + 1, self.addresses.len());
        self.addresses.as_mut_ptr()
    }
}

#[routine]
unsafe extern "C" fn mpi_comm_spawn_(
    command: *const c_void,
    argv: *const c_void,
    maxprocs: *const c_int,
    info: *const c_void,
    root: *const c_int,
    comm: *const c_void,
    intercomm: *mut c_void,
    array_of_errcodes: *mut c_void,
    ierror: *mut c_int,
    command_length: usize,
    argv_length: usize,
) {
    // SAFETY: Fortran's caller passes what the standard asks of each parameter.
    unsafe {
        let command = string::stripped(command, command_length);
        let mut arguments = (!sentinel::is_no_arguments(argv))
            .then(|| Strings::read(argv, argv_length, argv_length, None));
        let mut made = MPI_Comm::NULL;
        ierror::store(
            ierror,
            c::MPI_Comm_spawn(
                command.as_ptr(),
                arguments
                    .as_mut()
                    .map_or(MPI_ARGV_NULL, Strings::as_mut_ptr),
                *maxprocs,
                MPI_Info::of_fortran(info),
                *root,
                MPI_Comm::of_fortran(comm),
                &mut made,
                sentinel::errcodes(array_of_errcodes),
            ),
        );
        made.into_fortran(intercomm);
    }
}

/// The arguments of a command are a row of an array that Fortran stores by columns.
#[routine]
unsafe extern "C" fn mpi_comm_spawn_multiple_(
    count: *const c_int,
    array_of_commands: *const c_void,
    array_of_argv: *const c_void,
    array_of_maxprocs: *const c_int,
    array_of_info: *const c_void,
    root: *const c_int,
    comm: *const c_void,
    intercomm: *mut c_void,
    array_of_errcodes: *mut c_void,
    ierror: *mut c_int,
    command_length: usize,
    argv_length: usize,
) {
    // SAFETY: as above.
    unsafe {
        let commands = usize::try_from(*count).unwrap_or(0);
        let mut names = Strings::read(
            array_of_commands,
            command_length,
            command_length,
            Some(commands),
        );
        let row = |at: usize| {
            let first = array_of_argv.byte_add(at * argv_length);
            Strings::read(first, argv_length, commands * argv_length, None)
        };
        let mut rows: Vec<Strings> = match sentinel::is_no_arguments(array_of_argv) {
            true => Vec::new(),
            false => (0..commands).map(row).collect(),
        };
        let mut arguments: Vec<_> = rows.iter_mut().map(Strings::as_mut_ptr).collect();
        let arguments = match arguments.is_empty() {
            true => MPI_ARGVS_NULL,
            false => arguments.as_mut_ptr(),
        };
        let mut infos = Handles::<MPI_Info>::read(array_of_info, *count);
        let mut made = MPI_Comm::NULL;
        ierror::store(
            ierror,
            c::MPI_Comm_spawn_multiple(
                *count,
                names.as_mut_ptr(),
                arguments,
                array_of_maxprocs,
                infos.as_mut_ptr(),
                *root,
                MPI_Comm::of_fortran(comm),
                &mut made,
                sentinel::errcodes(array_of_errcodes),
            ),
        );
        made.into_fortran(intercomm);
    }
}
