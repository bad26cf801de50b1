//! Reduction operations (MPI-5.0 §6.9.5).

use std::ffi::{c_int, c_void};

use weft_abi::{MPI_Count, MPI_Datatype, MPI_User_function, MPI_User_function_c};
use weft_abi_macros::mpi;
use weft_objects::op::{self, Function};
use weft_objects::{OpId, TypeId};

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::foreign::Handed;
use crate::handle::InOut;
use crate::integer;
use crate::language::{self, Language};
use crate::output::{Out, Output};

/// A function that combines as many operands as a number of type `C` says.
type Combining<C> =
    unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut C, *mut MPI_Datatype);

/// One of the program's, and whether its datatype is an integer of Fortran's.
struct UserFunction {
    form: Form,
    language: Language,
}

#[derive(Clone, Copy)]
enum Form {
    Int(Combining<c_int>),
    Large(Combining<MPI_Count>),
}

impl FromC<MPI_User_function> for UserFunction {
    unsafe fn from_c(raw: MPI_User_function, name: &'static str) -> Result<UserFunction> {
        let function = raw.ok_or_else(|| null_pointer(name))?;
        Ok(UserFunction::new(Form::Int(function)))
    }
}

/// The large-count form's.
impl FromC<MPI_User_function_c> for UserFunction {
    unsafe fn from_c(raw: MPI_User_function_c, name: &'static str) -> Result<UserFunction> {
        let function = raw.ok_or_else(|| null_pointer(name))?;
        Ok(UserFunction::new(Form::Large(function)))
    }
}

impl UserFunction {
    fn new(form: Form) -> UserFunction {
        let language = language::take();
        UserFunction { form, language }
    }
}

impl Function for UserFunction {
    fn limit(&self) -> usize {
        match self.form {
            Form::Int(_) => c_int::MAX as usize,
            Form::Large(_) => isize::MAX as usize,
        }
    }

    unsafe fn apply(&self, input: *const u8, inout: *mut u8, count: usize, datatype: TypeId) {
        let (input, inout) = (input.cast_mut().cast(), inout.cast());
        let mut handle = datatype.into_c();
        let mut number;
        let datatype = match self.language {
            Language::C => {
                handle = handle.handed();
                &raw mut handle
            }
            _ => {
                number = integer::of_handle(handle.addr());
                (&raw mut number).cast()
            }
        };
        // SAFETY of both: the program's function for such operands, which are valid by this function's contract.
        match self.form {
            Form::Int(function) => {
                let mut length = count as c_int;
                // SAFETY: as above.
                unsafe { function(input, inout, &mut length, datatype) }
            }
            Form::Large(function) => {
                let mut length = count as MPI_Count;
                // SAFETY: as above.
                unsafe { function(input, inout, &mut length, datatype) }
            }
        }
    }
}

#[mpi(Op_create)]
fn op_create(user_fn: UserFunction, commute: bool, op: Out<OpId>) -> Result<()> {
    op.set(op::create(user_fn, commute)?);
    Ok(())
}

#[mpi(Op_free)]
fn op_free(op: InOut<OpId>) -> Result<()> {
    op::free(op.get("op")?)?;
    op.clear();
    Ok(())
}

#[mpi(Op_commutative)]
fn op_commutative(op: OpId, commute: Out<bool>) -> Result<()> {
    commute.set(op::is_commutative(op)?);
    Ok(())
}
