//! Reduction operations: the predefined ones and the program's (MPI-5.0 §6.9.2, §6.9.5).

use std::sync::Arc;

use weft_collective::{Combine, PredefinedOp};
use weft_datatype::{Datatype, Op};
use weft_error::{Class, Error, Result, argument};
use weft_handle::kind;
use weft_handle::table::Table;

use crate::types::{self, PrivateHandle, TypeId};

/// Names a reduction operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpId {
    Predefined(Op),
    User(u64),
}

impl OpId {
    /// Whether it is predefined, and on this datatype.
    #[inline]
    pub fn is_defined_on(self, datatype: TypeId) -> bool {
        self.on(datatype).is_some()
    }

    /// The predefined operation on this datatype, if it is one.
    #[inline]
    pub fn on(self, datatype: TypeId) -> Option<PredefinedOp> {
        match self {
            OpId::Predefined(op) => predefined(op, datatype),
            OpId::User(_) => None,
        }
    }
}

/// A predefined operation, on the types that the standard allows (MPI-5.0 §6.9.2).
#[inline]
fn predefined(op: Op, datatype: TypeId) -> Option<PredefinedOp> {
    let predefined = types::plain(datatype).filter(|_| !op.is_accumulate_only())?;
    PredefinedOp::new(op, predefined)
}

/// A function of the program's.
pub trait Function: Send + Sync {
    /// The most elements that one call takes.
    fn limit(&self) -> usize;

    /// `inout[i] = input[i] op inout[i]` for `count` elements.
    ///
    /// # Safety
    /// `input` is valid for reads and `inout` for writes of `count` elements of `datatype`; they do not overlap.
    unsafe fn apply(&self, input: *const u8, inout: *mut u8, count: usize, datatype: TypeId);

    /// Has the function passed a word behind its parameters from now on: a binding's own function finds the program's there.
    fn bind(&self, word: usize);
}

/// An operation that the program made.
pub struct UserOp {
    function: Box<dyn Function>,
    commutative: bool,
}

static OPS: Table<UserOp> = Table::new(kind::OP);

/// The live handle of an operation at an index.
pub fn current(index: u32) -> Option<u64> {
    OPS.current(index)
}

/// `MPI_Op_create`.
pub fn create(function: impl Function + 'static, commutative: bool) -> Result<OpId> {
    let op = Arc::new(UserOp {
        function: Box::new(function),
        commutative,
    });
    let handle = OPS.insert(op).map(OpId::User);
    handle.ok_or_else(|| argument(Class::NoMem, "op", "too many operations"))
}

/// `MPI_Op_free`. Calls that use it go on.
pub fn free(op: OpId) -> Result<()> {
    match op {
        OpId::Predefined(_) => {
            let what = "a predefined operation cannot be freed";
            Err(argument(Class::Op, "op", what))
        }
        OpId::User(handle) => OPS.remove(handle).map(drop).ok_or_else(not_an_op),
    }
}

/// `MPI_Op_commutative`.
pub fn is_commutative(op: OpId) -> Result<bool> {
    Ok(match op {
        OpId::Predefined(op) => op.is_commutative(),
        OpId::User(handle) => user(handle)?.commutative,
    })
}

/// Binds a word to the function of an operation that nobody uses yet.
pub fn bind(op: OpId, word: usize) -> Result<()> {
    if let OpId::User(handle) = op {
        user(handle)?.function.bind(word);
    }
    Ok(())
}

fn user(handle: u64) -> Result<Arc<UserOp>> {
    OPS.share(handle).ok_or_else(not_an_op)
}

#[cold]
fn not_an_op() -> Error {
    argument(Class::Op, "op", "not an operation, or a freed one")
}

/// An operation on a datatype, ready to be applied.
pub enum Operator {
    Predefined(PredefinedOp),
    User {
        op: Arc<UserOp>,
        /// What the function is told.
        datatype: TypeId,
        extent: isize,
        /// Holds `datatype` while the program may free its own.
        _handle: Option<PrivateHandle>,
    },
}

impl Operator {
    pub fn new(op: OpId, datatype: TypeId) -> Result<Operator> {
        let handle = match op {
            OpId::Predefined(op) => return Operator::predefined(op, datatype),
            OpId::User(handle) => handle,
        };
        Ok(Operator::User {
            op: user(handle)?,
            datatype,
            extent: types::find(datatype)?.extent(),
            _handle: None,
        })
    }

    /// A predefined operation.
    pub fn predefined(op: Op, datatype: TypeId) -> Result<Operator> {
        predefined(op, datatype)
            .map(Operator::Predefined)
            .ok_or_else(|| {
                let on = types::as_predefined(datatype)
                    .map_or("a derived datatype", |predefined| predefined.name());
                let what = format_args!("{} is not defined on {on}", op.name());
                argument(Class::Op, "op", what)
            })
    }

    /// The same for longer than the call: the datatype that the function is told stays one.
    pub fn into_owned(self, data: &Datatype) -> Operator {
        match self {
            Operator::User {
                op,
                datatype,
                extent,
                ..
            } => {
                let handle = PrivateHandle::new(datatype, data);
                Operator::User {
                    op,
                    datatype: handle.as_ref().map_or(datatype, PrivateHandle::id),
                    extent,
                    _handle: handle,
                }
            }
            predefined => predefined,
        }
    }

    /// `inout[i] = input[i] op inout[i]`.
    ///
    /// # Safety
    /// As for [`Combine::combine`].
    pub unsafe fn apply(&self, input: *const u8, inout: *mut u8, count: usize) {
        match self {
            // SAFETY: by this function's contract.
            Operator::Predefined(op) => unsafe { op.combine(input, inout, count) },
            Operator::User {
                op,
                datatype,
                extent,
                ..
            } => {
                let function = &op.function;
                for start in (0..count).step_by(function.limit()) {
                    let part = function.limit().min(count - start);
                    let offset = extent.wrapping_mul(start as isize);
                    let (input, inout) =
                        (input.wrapping_offset(offset), inout.wrapping_offset(offset));
                    // SAFETY: by this function's contract, of a part of the elements.
                    unsafe { function.apply(input, inout, part, *datatype) };
                }
            }
        }
    }
}

impl Combine for Operator {
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize) {
        // SAFETY: by this function's contract.
        unsafe { self.apply(input, inout, count) }
    }

    fn commutative(&self) -> bool {
        match self {
            Operator::Predefined(op) => op.commutative(),
            Operator::User { op, .. } => op.commutative,
        }
    }
}
