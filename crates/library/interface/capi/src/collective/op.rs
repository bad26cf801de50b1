//! Reduction operations (MPI-5.0 §6.9.5).

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use weft_abi::{MPI_Count, MPI_Datatype, MPI_Op, MPI_User_function, MPI_User_function_c};
use weft_abi_macros::mpi;
use weft_objects::op::{self, Function};
use weft_objects::{OpId, TypeId};

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::foreign::Handed;
use crate::handle::InOut;
use crate::language::{self, Language};
use crate::output::{Out, Output};

/// A function that combines as many operands as a number of type `C` says.
type Combining<C> =
    unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut C, *mut MPI_Datatype);

/// One that is passed a word behind its parameters.
type Bound =
    unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype, usize);

/// One of the program's, and whether its datatype is an integer of Fortran's.
struct UserFunction {
    form: Form,
    language: Language,
    /// The word behind its parameters; 0 if it has none. Written before the operation is used.
    word: AtomicUsize,
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
        UserFunction {
            form,
            language,
            word: AtomicUsize::new(0),
        }
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
                number = handle.integer();
                (&raw mut number).cast()
            }
        };
        // SAFETY of both: the program's function for such operands, which are valid by this function's contract.
        match self.form {
            Form::Int(function) => {
                let mut length = count as c_int;
                match self.word.load(Ordering::Relaxed) {
                    // SAFETY: as above.
                    0 => unsafe { function(input, inout, &mut length, datatype) },
                    // SAFETY: as above; a function to which a word was bound takes it.
                    word => unsafe {
                        let function = std::mem::transmute::<Combining<c_int>, Bound>(function);
                        function(input, inout, &mut length, datatype, word)
                    },
                }
            }
            Form::Large(function) => {
                let mut length = count as MPI_Count;
                // SAFETY: as above.
                unsafe { function(input, inout, &mut length, datatype) }
            }
        }
    }

    fn bind(&self, word: usize) {
        self.word.store(word, Ordering::Relaxed);
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

/// Has the function of an operation that was just made passed a word behind its parameters.
///
/// # Safety
/// `op` is a handle of the standard's, and the operation's function takes such a word.
pub unsafe fn bind(op: MPI_Op, word: usize) {
    // SAFETY: by this function's contract.
    let op = unsafe { OpId::from_c(op, "op") };
    // One that there is not, its creation has told.
    let _ = op.and_then(|op| op::bind(op, word));
}
