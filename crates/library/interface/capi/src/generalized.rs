//! Generalized requests (MPI-5.0 §13.2).

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::with_exposed_provenance_mut;

use weft_abi::{
    MPI_Grequest_cancel_function, MPI_Grequest_free_function, MPI_Grequest_query_function,
    MPI_SUCCESS,
};
use weft_abi_macros::mpi;
use weft_messages::generalized::{Functions, refused};
use weft_messages::generalized_calls;
use weft_messages::{Request, Status};

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::foreign;
use crate::language::{self, Language};
use crate::output::Out;
use crate::status;

type Query = unsafe extern "C-unwind" fn(*mut c_void, *mut weft_abi::MPI_Status) -> c_int;
type Free = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C-unwind" fn(*mut c_void, c_int) -> c_int;

/// What a generalized request was started with.
struct Program {
    query: Query,
    free: Free,
    cancel: Cancel,
    extra_state: usize,
}

impl Program {
    fn extra_state(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.extra_state)
    }
}

fn checked(function: &str, code: c_int) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        _ => Err(refused(function, foreign::code_of(code))),
    }
}

impl Functions for Program {
    fn query(&self) -> Result<Status> {
        let (code, status) = status::filled(|place| {
            // SAFETY: the program's function for this request, which stays valid until it is freed.
            unsafe { (self.query)(self.extra_state(), place) }
        });
        checked("query", code).map(|()| status)
    }

    fn free(&self) -> Result<()> {
        // SAFETY: as above.
        checked("free", unsafe { (self.free)(self.extra_state()) })
    }

    fn cancel(&self, complete: bool) -> Result<()> {
        // SAFETY: as above.
        let code = unsafe { (self.cancel)(self.extra_state(), complete.into()) };
        checked("cancel", code)
    }
}

macro_rules! functions {
    ($($function:ty => $given:ty,)*) => {$(
        impl FromC<$given> for $function {
            unsafe fn from_c(raw: $given, name: &'static str) -> Result<$function> {
                raw.ok_or_else(|| null_pointer(name))
            }
        }
    )*};
}

functions! {
    Query => MPI_Grequest_query_function,
    Free => MPI_Grequest_free_function,
    Cancel => MPI_Grequest_cancel_function,
}

/// What a generalized request of Fortran's was started with: all arguments go by reference (MPI-5.0 §13.2).
struct FortranProgram {
    query: FortranQuery,
    free: FortranFree,
    cancel: FortranCancel,
    extra_state: isize,
}

type FortranQuery =
    unsafe extern "C-unwind" fn(*mut isize, *mut weft_abi::MPI_Status, ierror: *mut c_int);
type FortranFree = unsafe extern "C-unwind" fn(*mut isize, ierror: *mut c_int);
type FortranCancel = unsafe extern "C-unwind" fn(*mut isize, *mut c_int, ierror: *mut c_int);

impl Functions for FortranProgram {
    fn query(&self) -> Result<Status> {
        let (mut extra_state, mut ierror) = (self.extra_state, MPI_SUCCESS);
        let (code, status) = status::filled(|place| {
            // SAFETY: the program's function for this request, which stays valid until it is freed.
            unsafe { (self.query)(&mut extra_state, place, &mut ierror) };
            ierror
        });
        checked("query", code).map(|()| status)
    }

    fn free(&self) -> Result<()> {
        let (mut extra_state, mut ierror) = (self.extra_state, MPI_SUCCESS);
        // SAFETY: as above.
        unsafe { (self.free)(&mut extra_state, &mut ierror) };
        checked("free", ierror)
    }

    fn cancel(&self, complete: bool) -> Result<()> {
        let (mut extra_state, mut ierror) = (self.extra_state, MPI_SUCCESS);
        let mut complete = c_int::from(complete);
        // SAFETY: as above.
        unsafe { (self.cancel)(&mut extra_state, &mut complete, &mut ierror) };
        checked("cancel", ierror)
    }
}

#[mpi(Grequest_start)]
fn grequest_start(
    query_fn: Query,
    free_fn: Free,
    cancel_fn: Cancel,
    extra_state: *mut c_void,
    request: Out<Request>,
) -> Result<()> {
    let functions: Box<dyn Functions> = match language::take() {
        Language::C => Box::new(Program {
            query: query_fn,
            free: free_fn,
            cancel: cancel_fn,
            extra_state: extra_state.expose_provenance(),
        }),
        _ => Box::new(FortranProgram {
            // SAFETY: the program's functions are Fortran's.
            query: unsafe { transmute::<Query, FortranQuery>(query_fn) },
            // SAFETY: as above.
            free: unsafe { transmute::<Free, FortranFree>(free_fn) },
            // SAFETY: as above.
            cancel: unsafe { transmute::<Cancel, FortranCancel>(cancel_fn) },
            extra_state: extra_state.addr().cast_signed(),
        }),
    };
    request.set(generalized_calls::start(functions)?);
    Ok(())
}

#[mpi(Grequest_complete)]
fn grequest_complete(request: Request) -> Result<()> {
    generalized_calls::complete(request)
}
