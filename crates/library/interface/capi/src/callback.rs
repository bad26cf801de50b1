//! The program's functions of attribute keys and error handlers, as the library calls them.
//!
//! Every call hands C what MPI-5.0 §7.7 and §9.3 say: handles and words that the program gave, and places that live as long
//! as the call.
//!
//! A C++ exception must not leave such a function, nor one of a reduction or a generalized request: MPI may hold locks
//! then, and other processes wait for what it was about to do. All of them are called by `C-unwind`, so that an exception that
//! arrives ends the process there, with a word about it, instead of being undefined behaviour.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{null_mut, with_exposed_provenance_mut};

use weft_abi::{
    MPI_COMM_DUP_FN, MPI_COMM_NULL, MPI_Comm, MPI_FILE_NULL, MPI_File, MPI_SESSION_NULL,
    MPI_SUCCESS, MPI_Session, MPI_TYPE_DUP_FN, MPI_WIN_DUP_FN, MPI_WIN_NULL, MPI_Win,
};
use weft_mpi::objects::attributes::{Functions, Value, refused};
use weft_mpi::objects::handler::{Function, NO_OBJECT};
use weft_mpi::{CommId, TypeId, WindowId};

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::output::Output;

/// A copy function for objects of C type `H`; null copies nothing.
pub type Copy<H> = Option<
    unsafe extern "C-unwind" fn(
        H,
        c_int,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        *mut c_int,
    ) -> c_int,
>;
/// A delete function; null does nothing.
pub type Delete<H> =
    Option<unsafe extern "C-unwind" fn(H, c_int, *mut c_void, *mut c_void) -> c_int>;

/// The predefined copy function that copies the word: of all kinds the same number, and no address.
const DUP: usize = MPI_COMM_DUP_FN;
const _: () = assert!(DUP == MPI_TYPE_DUP_FN && DUP == MPI_WIN_DUP_FN);

/// An identifier of objects that have attributes.
pub trait Holding: Output {
    fn of(number: u64) -> Self;
}

impl Holding for CommId {
    fn of(number: u64) -> CommId {
        // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
        unsafe { CommId::named(number) }
    }
}

impl Holding for TypeId {
    fn of(number: u64) -> TypeId {
        // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
        unsafe { TypeId::named(number) }
    }
}

impl Holding for WindowId {
    fn of(number: u64) -> WindowId {
        // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
        unsafe { WindowId::named(number) }
    }
}

/// What a key was created with.
pub struct KeyFunctions<Id: Holding> {
    copy: Copy<Id::C>,
    delete: Delete<Id::C>,
    extra_state: usize,
    holder: PhantomData<fn(Id)>,
}

impl<Id: Holding> KeyFunctions<Id> {
    pub fn new(copy: Copy<Id::C>, delete: Delete<Id::C>, extra_state: *mut c_void) -> Self {
        KeyFunctions {
            copy,
            delete,
            extra_state: extra_state.expose_provenance(),
            holder: PhantomData,
        }
    }

    fn extra_state(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.extra_state)
    }
}

impl<Id: Holding> Functions for KeyFunctions<Id> {
    fn copy(&self, object: u64, key: i32, value: Value) -> Result<Option<Value>> {
        let Some(copy) = self.copy else {
            return Ok(None);
        };
        if copy as usize == DUP {
            return Ok(Some(value));
        }
        let (mut out, mut flag) = (null_mut::<c_void>(), 0);
        // SAFETY: the program's function for such keys, which stays valid while there are attributes of the key.
        let code = unsafe {
            copy(
                Id::of(object).into_c(),
                key,
                self.extra_state(),
                with_exposed_provenance_mut(value),
                (&raw mut out).cast(),
                &raw mut flag,
            )
        };
        match code {
            MPI_SUCCESS => Ok((flag != 0).then(|| out.expose_provenance())),
            _ => Err(refused("copy", key, code)),
        }
    }

    fn delete(&self, object: u64, key: i32, value: Value) -> Result<()> {
        let Some(delete) = self.delete else {
            return Ok(());
        };
        let value = with_exposed_provenance_mut(value);
        // SAFETY: as above.
        let code = unsafe { delete(Id::of(object).into_c(), key, value, self.extra_state()) };
        match code {
            MPI_SUCCESS => Ok(()),
            _ => Err(refused("delete", key, code)),
        }
    }
}

/// A function of an error handler for objects of C type `H`.
pub struct ErrorFunction<H>(unsafe extern "C-unwind" fn(*mut H, *mut c_int, ...));

impl<H> FromC<Option<unsafe extern "C-unwind" fn(*mut H, *mut c_int, ...)>> for ErrorFunction<H> {
    unsafe fn from_c(
        raw: Option<unsafe extern "C-unwind" fn(*mut H, *mut c_int, ...)>,
        name: &'static str,
    ) -> Result<ErrorFunction<H>> {
        raw.map(ErrorFunction).ok_or_else(|| null_pointer(name))
    }
}

/// An object whose errors may go to a function of the program's.
pub trait Failing: Sized {
    /// The C handle of the object whose identifier has that number.
    fn handle(number: u64) -> Self;
}

impl Failing for MPI_Comm {
    fn handle(number: u64) -> MPI_Comm {
        match number {
            NO_OBJECT => MPI_COMM_NULL,
            // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
            _ => unsafe { CommId::named(number) }.into_c(),
        }
    }
}

/// No file is open: errors of files are `MPI_FILE_NULL`'s.
impl Failing for MPI_File {
    fn handle(_: u64) -> MPI_File {
        MPI_FILE_NULL
    }
}

macro_rules! failing_as_numbered {
    ($($c:ty, $null:expr;)*) => {$(
        impl Failing for $c {
            fn handle(number: u64) -> $c {
                match number {
                    NO_OBJECT => $null,
                    _ => std::ptr::without_provenance_mut(number as usize),
                }
            }
        }
    )*};
}

failing_as_numbered! {
    MPI_Win, MPI_WIN_NULL;
    MPI_Session, MPI_SESSION_NULL;
}

impl<H: Failing + 'static> ErrorFunction<H> {
    /// As the library calls it.
    pub fn boxed(self) -> Function {
        let ErrorFunction(function) = self;
        Box::new(move |object, code| {
            let (mut handle, mut code) = (H::handle(object), code);
            // SAFETY: the program's function for such objects, which stays valid while an object has the handler.
            unsafe { function(&raw mut handle, &raw mut code) };
            code
        })
    }
}

impl<H> FromC<Copy<H>> for Copy<H> {
    unsafe fn from_c(raw: Copy<H>, _: &'static str) -> Result<Copy<H>> {
        Ok(raw)
    }
}

impl<H> FromC<Delete<H>> for Delete<H> {
    unsafe fn from_c(raw: Delete<H>, _: &'static str) -> Result<Delete<H>> {
        Ok(raw)
    }
}
