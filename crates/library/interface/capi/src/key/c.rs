//! Functions of attribute keys that C created.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{null_mut, with_exposed_provenance_mut};

use weft_abi::{MPI_COMM_DUP_FN, MPI_SUCCESS, MPI_TYPE_DUP_FN, MPI_WIN_DUP_FN};
use weft_objects::attributes::{Functions, Value, refused};

use super::holding::Holding;
use crate::entry::{FromC, Result};
use crate::foreign::{self, Handed};

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

/// What C created a key with.
pub struct CFunctions<Id: Holding> {
    copy: Copy<Id::C>,
    delete: Delete<Id::C>,
    extra_state: usize,
    holder: PhantomData<fn(Id)>,
}

impl<Id: Holding> CFunctions<Id> {
    pub fn new(copy: Copy<Id::C>, delete: Delete<Id::C>, extra_state: *mut c_void) -> Self {
        CFunctions {
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

impl<Id: Holding> Functions for CFunctions<Id> {
    fn copy(&self, object: u64, key: i32, value: &Value) -> Result<Option<Value>> {
        let Some(copy) = self.copy else {
            return Ok(None);
        };
        if copy as usize == DUP {
            return Ok(Some(value.duplicate()));
        }
        let (mut out, mut flag) = (null_mut::<c_void>(), 0);
        // SAFETY: the program's function for such keys, which stays valid while there are attributes of the key.
        let code = unsafe {
            copy(
                Id::of(object).into_c().handed(),
                key,
                self.extra_state(),
                with_exposed_provenance_mut(value.pointer()),
                (&raw mut out).cast(),
                &raw mut flag,
            )
        };
        match code {
            MPI_SUCCESS if flag == 0 => Ok(None),
            // The function handed on the address of Fortran's integer, which is the old attribute's.
            MPI_SUCCESS if out.addr() == value.pointer() => Ok(Some(value.duplicate())),
            MPI_SUCCESS => Ok(Some(Value::Pointer(out.expose_provenance()))),
            _ => Err(refused("copy", key, foreign::code_of(code))),
        }
    }

    fn delete(&self, object: u64, key: i32, value: &Value) -> Result<()> {
        let Some(delete) = self.delete else {
            return Ok(());
        };
        let value = with_exposed_provenance_mut(value.pointer());
        // SAFETY: as above.
        let code = unsafe {
            delete(
                Id::of(object).into_c().handed(),
                key,
                value,
                self.extra_state(),
            )
        };
        match code {
            MPI_SUCCESS => Ok(()),
            _ => Err(refused("delete", key, foreign::code_of(code))),
        }
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
