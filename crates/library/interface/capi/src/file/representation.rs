//! The program's data representations (MPI-5.0 §14.5.3).

use std::ffi::{CStr, c_int, c_void};
use std::ptr::with_exposed_provenance_mut;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_mpi::file::{self, Functions, refused};
use weft_mpi::{Class, Error, TypeId};

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::output::Output;

type Small = unsafe extern "C-unwind" fn(
    *mut c_void,
    MPI_Datatype,
    c_int,
    *mut c_void,
    MPI_Offset,
    *mut c_void,
) -> c_int;
type Large = unsafe extern "C-unwind" fn(
    *mut c_void,
    MPI_Datatype,
    MPI_Count,
    *mut c_void,
    MPI_Offset,
    *mut c_void,
) -> c_int;
type Extent = unsafe extern "C-unwind" fn(MPI_Datatype, *mut MPI_Aint, *mut c_void) -> c_int;

/// A conversion function, by the form of the call that it came in.
#[derive(Clone, Copy)]
enum Conversion {
    /// `MPI_CONVERSION_FN_NULL`.
    None,
    Small(Small),
    Large(Large),
}

impl FromC<MPI_Datarep_conversion_function> for Conversion {
    unsafe fn from_c(raw: MPI_Datarep_conversion_function, _: &'static str) -> Result<Conversion> {
        Ok(raw.map_or(Conversion::None, Conversion::Small))
    }
}

impl FromC<MPI_Datarep_conversion_function_c> for Conversion {
    unsafe fn from_c(
        raw: MPI_Datarep_conversion_function_c,
        _: &'static str,
    ) -> Result<Conversion> {
        Ok(raw.map_or(Conversion::None, Conversion::Large))
    }
}

impl FromC<MPI_Datarep_extent_function> for Extent {
    unsafe fn from_c(raw: MPI_Datarep_extent_function, name: &'static str) -> Result<Extent> {
        raw.ok_or_else(|| null_pointer(name))
    }
}

/// What a representation was registered with.
struct Program {
    read: Conversion,
    write: Conversion,
    extent: Extent,
    extra_state: usize,
}

/// The arguments of one call of a conversion function.
struct Converted {
    user: *mut c_void,
    datatype: TypeId,
    count: i64,
    file: *mut c_void,
}

impl Converted {
    /// As an `int`, for a function that takes one.
    fn small_count(&self) -> Result<c_int> {
        c_int::try_from(self.count).map_err(|_| {
            let text = "a conversion function with an int is given more than 2^31 - 1 elements";
            Error::new(Class::Conversion, text)
        })
    }
}

impl Program {
    fn extra_state(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.extra_state)
    }

    fn call(&self, function: Conversion, arguments: &Converted) -> Result<c_int> {
        let Converted {
            user,
            datatype,
            count,
            file,
        } = *arguments;
        let (datatype, extra) = (datatype.into_c(), self.extra_state());
        // SAFETY of both: the program's function for its representation, with buffers as long as it has said.
        Ok(match function {
            Conversion::None => MPI_SUCCESS,
            Conversion::Small(function) => {
                let count = arguments.small_count()?;
                // SAFETY: as above.
                unsafe { function(user, datatype, count, file, 0, extra) }
            }
            // SAFETY: as above.
            Conversion::Large(function) => unsafe {
                function(user, datatype, count, file, 0, extra)
            },
        })
    }
}

fn checked(function: &str, code: c_int) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        _ => Err(refused(function, code)),
    }
}

impl Functions for Program {
    fn file_extent(&self, datatype: TypeId) -> Result<i64> {
        let mut extent = 0;
        // SAFETY: the program's function for its representation.
        let code = unsafe { (self.extent)(datatype.into_c(), &mut extent, self.extra_state()) };
        checked("extent", code).map(|()| extent as i64)
    }

    fn converts_reads(&self) -> bool {
        !matches!(self.read, Conversion::None)
    }

    fn converts_writes(&self) -> bool {
        !matches!(self.write, Conversion::None)
    }

    fn read(&self, user: *mut u8, datatype: TypeId, count: i64, file: *mut u8) -> Result<()> {
        let arguments = Converted {
            user: user.cast(),
            datatype,
            count,
            file: file.cast(),
        };
        checked("read conversion", self.call(self.read, &arguments)?)
    }

    fn write(&self, user: *mut u8, datatype: TypeId, count: i64, file: *mut u8) -> Result<()> {
        let arguments = Converted {
            user: user.cast(),
            datatype,
            count,
            file: file.cast(),
        };
        checked("write conversion", self.call(self.write, &arguments)?)
    }
}

#[mpi(Register_datarep)]
fn register_datarep(
    datarep: &CStr,
    read_conversion_fn: Conversion,
    write_conversion_fn: Conversion,
    dtype_file_extent_fn: Extent,
    extra_state: *mut c_void,
) -> Result<()> {
    let program = Program {
        read: read_conversion_fn,
        write: write_conversion_fn,
        extent: dtype_file_extent_fn,
        extra_state: extra_state.expose_provenance(),
    };
    file::register_representation(datarep, Box::new(program))
}
