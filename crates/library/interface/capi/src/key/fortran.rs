//! Functions of attribute keys that Fortran created: all arguments are integers by reference (MPI-5.0 §7.7.2, §16.1).

use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::transmute;

use weft_abi::MPI_SUCCESS;
use weft_objects::attributes::{Functions, Value, refused};

use super::holding::Holding;
use crate::entry::Result;
use crate::foreign;
use crate::language::Language;

type Copy = unsafe extern "C-unwind" fn(
    oldcomm: *mut c_int,
    keyval: *mut c_int,
    extra_state: *mut isize,
    attribute_val_in: *mut isize,
    attribute_val_out: *mut isize,
    flag: *mut c_int,
    ierror: *mut c_int,
);
type Delete = unsafe extern "C-unwind" fn(
    comm: *mut c_int,
    keyval: *mut c_int,
    attribute_val: *mut isize,
    extra_state: *mut isize,
    ierror: *mut c_int,
);

/// What Fortran created a key with. The functions of a deprecated key take `INTEGER` where the others take integers of an
/// address's size: they read and write the lower halves.
pub struct FortranFunctions<Id> {
    copy: Option<Copy>,
    delete: Option<Delete>,
    extra_state: isize,
    language: Language,
    holder: PhantomData<fn(Id)>,
}

impl<Id> FortranFunctions<Id> {
    /// From the addresses of the functions.
    pub fn new(
        copy: Option<*const ()>,
        delete: Option<*const ()>,
        extra_state: isize,
        language: Language,
    ) -> Self {
        FortranFunctions {
            // SAFETY: the program's functions for a key of Fortran's.
            copy: copy.map(|address| unsafe { transmute::<*const (), Copy>(address) }),
            // SAFETY: as above.
            delete: delete.map(|address| unsafe { transmute::<*const (), Delete>(address) }),
            extra_state,
            language,
            holder: PhantomData,
        }
    }

    fn of_width(&self, number: isize) -> isize {
        match self.language {
            Language::FortranInteger => number as c_int as isize,
            _ => number,
        }
    }
}

impl<Id: Holding> Functions for FortranFunctions<Id> {
    fn copy(&self, object: u64, key: i32, value: &Value) -> Result<Option<Value>> {
        let Some(copy) = self.copy else {
            return Ok(None);
        };
        let mut handle = Id::integer(object);
        let (mut keyval, mut extra_state) = (key, self.extra_state);
        let (mut given, mut out) = (value.number(), 0);
        let (mut flag, mut code) = (0, MPI_SUCCESS);
        // SAFETY: the program's function for such keys, which stays valid while there are attributes of the key.
        unsafe {
            copy(
                &mut handle,
                &mut keyval,
                &mut extra_state,
                &mut given,
                &mut out,
                &mut flag,
                &mut code,
            );
        }
        match code {
            MPI_SUCCESS => Ok((flag != 0).then(|| Value::integer(self.of_width(out)))),
            _ => Err(refused("copy", key, foreign::code_of(code))),
        }
    }

    fn delete(&self, object: u64, key: i32, value: &Value) -> Result<()> {
        let Some(delete) = self.delete else {
            return Ok(());
        };
        let mut handle = Id::integer(object);
        let (mut keyval, mut extra_state) = (key, self.extra_state);
        let (mut given, mut code) = (value.number(), MPI_SUCCESS);
        // SAFETY: as above.
        unsafe {
            delete(
                &mut handle,
                &mut keyval,
                &mut given,
                &mut extra_state,
                &mut code,
            );
        }
        match code {
            MPI_SUCCESS => Ok(()),
            _ => Err(refused("delete", key, foreign::code_of(code))),
        }
    }
}
