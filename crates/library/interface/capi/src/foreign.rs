//! The ABI of a program that is not built for the standard's. A library for such programs has this one in it, converts the
//! arguments of each call, and says here, before the first call, what the program's functions get and which error codes
//! it knows.

use std::ffi::c_int;
use std::ptr::without_provenance_mut;
use std::sync::OnceLock;

use crate::integer;
use weft_abi::{MPI_Comm, MPI_Datatype, MPI_File, MPI_Session, MPI_Status, MPI_Win};

/// How a program's ABI differs from the standard's. Handles are passed as words. A handle of fewer bits stands in the low
/// bits: there a function finds a narrower argument, in a register and in the memory of a little-endian machine.
pub trait Abi: Sync {
    fn comm(&self, comm: MPI_Comm, of: Form) -> usize;
    fn datatype(&self, datatype: MPI_Datatype, of: Form) -> usize;
    fn file(&self, file: MPI_File, of: Form) -> usize;
    fn session(&self, session: MPI_Session, of: Form) -> usize;
    fn window(&self, win: MPI_Win, of: Form) -> usize;

    /// The program's number of an error code.
    fn code(&self, code: c_int) -> c_int;

    /// The code that the program's number means.
    fn code_of(&self, number: c_int) -> c_int;

    /// Lets a function of the program's change a status, in the form that it knows.
    fn status(
        &self,
        status: &mut MPI_Status,
        change: &mut dyn FnMut(*mut MPI_Status) -> c_int,
    ) -> c_int;
}

/// What a function of the program's takes for a handle.
#[derive(Clone, Copy)]
pub enum Form {
    C,
    /// Its integer.
    Fortran,
}

/// Written once, before the first call of MPI; none for the standard's.
static ABI: OnceLock<&'static dyn Abi> = OnceLock::new();

/// Says which ABI the program has.
pub fn set(abi: &'static dyn Abi) {
    // A process has one such library, so nobody sets it twice.
    let _ = ABI.set(abi);
}

/// A handle that a function of the program's is given.
pub trait Handed: Sized {
    /// The program's handle. It is passed on, and means nothing here.
    fn handed(self) -> Self;

    /// The program's integer of the handle, for a function of Fortran's.
    fn integer(self) -> c_int;
}

macro_rules! handed {
    ($($handle:ty: $method:ident;)*) => {$(
        impl Handed for $handle {
            #[inline]
            fn handed(self) -> $handle {
                match ABI.get() {
                    None => self,
                    Some(abi) => without_provenance_mut(abi.$method(self, Form::C)),
                }
            }

            fn integer(self) -> c_int {
                match ABI.get() {
                    None => integer::of_handle(self.addr()),
                    Some(abi) => abi.$method(self, Form::Fortran) as c_int,
                }
            }
        }
    )*};
}

handed! {
    MPI_Comm: comm;
    MPI_Datatype: datatype;
    MPI_File: file;
    MPI_Session: session;
    MPI_Win: window;
}

/// An error code as the program has it.
pub fn code(code: c_int) -> c_int {
    ABI.get().map_or(code, |abi| abi.code(code))
}

/// The error code that a function of the program's has returned.
pub fn code_of(number: c_int) -> c_int {
    ABI.get().map_or(number, |abi| abi.code_of(number))
}

/// Lets a function of the program's change a status.
pub fn change(status: &mut MPI_Status, mut change: impl FnMut(*mut MPI_Status) -> c_int) -> c_int {
    match ABI.get() {
        None => change(status),
        Some(abi) => abi.status(status, &mut change),
    }
}
