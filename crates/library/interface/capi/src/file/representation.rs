//! The program's data representations (MPI-5.0 §14.5.3).

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::with_exposed_provenance_mut;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::{Class, Error};
use weft_file_calls as file;
use weft_file_calls::{Functions, refused};
use weft_objects::TypeId;

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::foreign::{self, Handed};
use crate::language::{self, Language};
use crate::output::Output;

/// A conversion function of C's whose count is a `C`.
type Converting<C> = unsafe extern "C-unwind" fn(
    *mut c_void,
    MPI_Datatype,
    C,
    *mut c_void,
    MPI_Offset,
    *mut c_void,
) -> c_int;
type Extent = unsafe extern "C-unwind" fn(MPI_Datatype, *mut MPI_Aint, *mut c_void) -> c_int;

/// One of Fortran's: all but the buffers go by reference.
type FortranConverting<C> = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut c_int,
    *mut C,
    *mut c_void,
    *mut MPI_Offset,
    *mut isize,
    *mut c_int,
);
type FortranExtent = unsafe extern "C-unwind" fn(*mut c_int, *mut MPI_Aint, *mut isize, *mut c_int);

/// A conversion function, by the form of the call that it came in.
#[derive(Clone, Copy)]
enum Conversion {
    /// `MPI_CONVERSION_FN_NULL`.
    None,
    Int(Converting<c_int>),
    Large(Converting<MPI_Count>),
}

impl FromC<MPI_Datarep_conversion_function> for Conversion {
    unsafe fn from_c(raw: MPI_Datarep_conversion_function, _: &'static str) -> Result<Conversion> {
        Ok(raw.map_or(Conversion::None, Conversion::Int))
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
    language: Language,
    read: Conversion,
    write: Conversion,
    extent: Extent,
    extra_state: usize,
}

/// The arguments of one call of a conversion function.
#[derive(Clone, Copy)]
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
    fn call(&self, function: Conversion, arguments: &Converted) -> Result<c_int> {
        Ok(match function {
            Conversion::None => MPI_SUCCESS,
            Conversion::Int(function) => {
                self.convert(function, arguments.small_count()?, arguments)
            }
            Conversion::Large(function) => self.convert(function, arguments.count, arguments),
        })
    }

    fn convert<C>(&self, function: Converting<C>, mut count: C, arguments: &Converted) -> c_int {
        let Converted {
            user,
            datatype,
            file,
            ..
        } = *arguments;
        let handle = datatype.into_c();
        if self.language == Language::C {
            let extra = with_exposed_provenance_mut(self.extra_state);
            // SAFETY: the program's function for its representation, with buffers as long as it has said.
            return unsafe { function(user, handle.handed(), count, file, 0, extra) };
        }
        // SAFETY: the program's functions are Fortran's.
        let function = unsafe { transmute::<Converting<C>, FortranConverting<C>>(function) };
        let mut number = handle.integer();
        let (mut position, mut extra, mut code) = (0, self.extra_state.cast_signed(), MPI_SUCCESS);
        let (number, count) = (&raw mut number, &raw mut count);
        // SAFETY: as above; the arguments by reference live as long as the call.
        unsafe {
            function(
                user,
                number,
                count,
                file,
                &mut position,
                &mut extra,
                &mut code,
            )
        };
        code
    }
}

fn checked(function: &str, code: c_int) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        _ => Err(refused(function, foreign::code_of(code))),
    }
}

impl Functions for Program {
    fn file_extent(&self, datatype: TypeId) -> Result<i64> {
        let (mut extent, handle) = (0, datatype.into_c());
        let code = if self.language == Language::C {
            let extra = with_exposed_provenance_mut(self.extra_state);
            // SAFETY: the program's function for its representation.
            unsafe { (self.extent)(handle.handed(), &mut extent, extra) }
        } else {
            // SAFETY: the program's functions are Fortran's.
            let function = unsafe { transmute::<Extent, FortranExtent>(self.extent) };
            let mut number = handle.integer();
            let (mut extra, mut code) = (self.extra_state.cast_signed(), MPI_SUCCESS);
            // SAFETY: as above.
            unsafe { function(&mut number, &mut extent, &mut extra, &mut code) };
            code
        };
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
        language: language::take(),
        read: read_conversion_fn,
        write: write_conversion_fn,
        extent: dtype_file_extent_fn,
        extra_state: extra_state.expose_provenance(),
    };
    file::register_representation(datarep, Box::new(program))
}
