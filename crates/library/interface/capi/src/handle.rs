//! Handles: from C's to the library's identifiers and back.
//!
//! A predefined handle is one of the ABI's numbers below 4096; any other is the library's number as it is, which the
//! library checks. What is neither becomes a number that names nothing.

use std::ptr::{NonNull, without_provenance_mut};

use weft_abi::*;
use weft_error::Class;
use weft_error::argument;
use weft_handle::{CommId, FileId, GroupId, InfoId, SessionId, WindowId};
use weft_messages::Request;
use weft_messages::probe::Message;
use weft_objects::handler::{self, Handler};
use weft_objects::{Op, OpId, TypeId};
use weft_tool as tool;

use crate::argument::non_null;
use crate::entry::{Error, FromC, Result};
use crate::integer::PREDEFINED_END;
use crate::output::Output;
use crate::predefined;

/// An identifier whose C form has a null handle.
pub trait Handle: Output<C: Copy> {
    const NULL: Self::C;
}

impl<T: Handle> Output for Option<T> {
    type C = T::C;
    #[inline]
    fn into_c(self) -> T::C {
        self.map_or(T::NULL, T::into_c)
    }
}

/// A handle that counts on some processes only; on the others it may be anything.
pub struct Deferred<T: Handle>(T::C);

impl<T: Handle + FromC<T::C>> Deferred<T> {
    /// The object. `name` is the parameter's.
    pub fn get(&self, name: &'static str) -> Result<T> {
        // SAFETY: the conversions of handles follow no pointer.
        unsafe { T::from_c(self.0, name) }
    }
}

impl<T: Handle> FromC<T::C> for Deferred<T> {
    unsafe fn from_c(raw: T::C, _: &'static str) -> Result<Deferred<T>> {
        Ok(Deferred(raw))
    }
}

/// A handle that the function frees or uses up.
pub struct InOut<T: Handle>(NonNull<T::C>);

impl<T: Handle + FromC<T::C>> InOut<T> {
    /// The object. `name` is the parameter's.
    pub fn get(&self, name: &'static str) -> Result<T> {
        // SAFETY: `from_c` took a valid address, an InOut does not outlive the call, and the conversions of handles
        // follow no pointer.
        unsafe { T::from_c(self.0.read(), name) }
    }

    /// Makes the handle null.
    pub fn clear(self) {
        // SAFETY: as above.
        unsafe { self.0.write(T::NULL) }
    }
}

impl<T: Handle> FromC<*mut T::C> for InOut<T> {
    unsafe fn from_c(raw: *mut T::C, name: &'static str) -> Result<InOut<T>> {
        Ok(InOut(non_null(raw, name)?))
    }
}

macro_rules! handles {
    ($($id:ty = $c:ty, null $null:expr, from $from:expr, to $to:expr;)*) => {$(
        impl FromC<$c> for $id {
            #[inline]
            unsafe fn from_c(raw: $c, name: &'static str) -> Result<$id> {
                let from: fn(usize, &'static str) -> Result<$id> = $from;
                from(raw.addr(), name)
            }
        }

        impl Output for $id {
            type C = $c;
            #[inline]
            fn into_c(self) -> $c {
                let to: fn($id) -> usize = $to;
                without_provenance_mut(to(self))
            }
        }

        impl Handle for $id {
            const NULL: $c = $null;
        }
    )*};
}

handles! {
    CommId = MPI_Comm, null MPI_COMM_NULL, from comm, to comm_number;
    GroupId = MPI_Group, null MPI_GROUP_NULL, from group, to group_number;
    TypeId = MPI_Datatype, null MPI_DATATYPE_NULL, from datatype, to datatype_number;
    Op = MPI_Op, null MPI_OP_NULL, from op, to predefined::op_number;
    OpId = MPI_Op, null MPI_OP_NULL, from any_op, to any_op_number;
    Handler = MPI_Errhandler, null MPI_ERRHANDLER_NULL, from handler_of, to handler_number;
    SessionId = MPI_Session, null MPI_SESSION_NULL, from |number, _| Ok(SessionId(number as u64)),
        to |session| session.0 as usize;
    InfoId = MPI_Info, null MPI_INFO_NULL, from |number, _| Ok(InfoId(number as u64)), to |info| info.0 as usize;
    Request = MPI_Request, null MPI_REQUEST_NULL, from request, to |request| request.handle() as usize;
    tool::control::Handle = MPI_T_cvar_handle, null MPI_T_CVAR_HANDLE_NULL,
        from |number, _| Ok(tool::control::Handle(number as u64)), to |handle| handle.0 as usize;
    tool::session::Session = MPI_T_pvar_session, null MPI_T_PVAR_SESSION_NULL,
        from |number, _| Ok(tool::session::Session(number as u64)), to |session| session.0 as usize;
    tool::session::Handle = MPI_T_pvar_handle, null MPI_T_PVAR_HANDLE_NULL,
        from |number, _| Ok(tool::session::Handle(number as u64)), to |handle| handle.0 as usize;
    WindowId = MPI_Win, null MPI_WIN_NULL, from window, to |window| window.handle() as usize;
    FileId = MPI_File, null MPI_FILE_NULL, from |number, _| Ok(FileId(number as u64)), to |file| file.0 as usize;
    Message = MPI_Message, null MPI_MESSAGE_NULL, from |number, _| Ok(Message(number as u64)),
        to |message| message.0 as usize;
}

/// `MPI_DATATYPE_NULL` is none.
impl FromC<MPI_Datatype> for Option<TypeId> {
    unsafe fn from_c(raw: MPI_Datatype, name: &'static str) -> Result<Option<TypeId>> {
        match raw == MPI_DATATYPE_NULL {
            true => Ok(None),
            false => datatype(raw.addr(), name).map(Some),
        }
    }
}

/// `MPI_COMM_NULL` is none.
impl FromC<MPI_Comm> for Option<CommId> {
    unsafe fn from_c(raw: MPI_Comm, name: &'static str) -> Result<Option<CommId>> {
        match raw == MPI_COMM_NULL {
            true => Ok(None),
            false => comm(raw.addr(), name).map(Some),
        }
    }
}

/// `MPI_WIN_NULL` is none.
impl FromC<MPI_Win> for Option<WindowId> {
    unsafe fn from_c(raw: MPI_Win, name: &'static str) -> Result<Option<WindowId>> {
        match raw == MPI_WIN_NULL {
            true => Ok(None),
            false => window(raw.addr(), name).map(Some),
        }
    }
}

/// `MPI_FILE_NULL` is none.
impl FromC<MPI_File> for Option<FileId> {
    unsafe fn from_c(raw: MPI_File, _: &'static str) -> Result<Option<FileId>> {
        Ok((raw != MPI_FILE_NULL).then(|| FileId(raw.addr() as u64)))
    }
}

/// `MPI_INFO_NULL` is none.
impl FromC<MPI_Info> for Option<InfoId> {
    unsafe fn from_c(raw: MPI_Info, _: &'static str) -> Result<Option<InfoId>> {
        Ok((raw != MPI_INFO_NULL).then(|| InfoId(raw.addr() as u64)))
    }
}

#[inline]
fn comm(number: usize, name: &'static str) -> Result<CommId> {
    if number == predefined::COMM_WORLD {
        Ok(CommId::WORLD)
    } else if number >= PREDEFINED_END {
        // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
        Ok(unsafe { CommId::named(number as u64) })
    } else if number == predefined::COMM_SELF {
        Ok(CommId::SELF)
    } else {
        Err(not_a_handle(Class::Comm, number, name))
    }
}

#[inline]
fn comm_number(comm: CommId) -> usize {
    match comm {
        CommId::WORLD => predefined::COMM_WORLD,
        CommId::SELF => predefined::COMM_SELF,
        other => other.handle() as usize,
    }
}

#[inline]
fn window(number: usize, _: &'static str) -> Result<WindowId> {
    // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
    Ok(unsafe { WindowId::named(number as u64) })
}

#[inline]
fn request(number: usize, _: &'static str) -> Result<Request> {
    // SAFETY: C's caller frees no partitioned request that others mark partitions of (MPI-5.0 §4.2.1).
    Ok(unsafe { Request::named(number as u64) })
}

fn group(number: usize, name: &'static str) -> Result<GroupId> {
    match number {
        predefined::GROUP_EMPTY => Ok(GroupId::EMPTY),
        0..PREDEFINED_END => Err(not_a_handle(Class::Group, number, name)),
        _ => Ok(GroupId(number as u64)),
    }
}

fn group_number(group: GroupId) -> usize {
    match group {
        GroupId::EMPTY => predefined::GROUP_EMPTY,
        GroupId(number) => number as usize,
    }
}

/// A datatype need not be one where the call ignores it (MPI-5.0 §6.2), so a wrong number is no error here.
#[inline]
pub fn datatype(number: usize, _: &'static str) -> Result<TypeId> {
    if number >= PREDEFINED_END {
        // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
        return Ok(unsafe { TypeId::named(number as u64) });
    }
    Ok(predefined::datatype(number))
}

pub fn datatype_number(datatype: TypeId) -> usize {
    match weft_objects::types::as_predefined(datatype) {
        Some(predefined) => predefined::datatype_number(predefined),
        None => datatype.handle() as usize,
    }
}

#[inline]
fn op(number: usize, name: &'static str) -> Result<Op> {
    predefined::op(number).ok_or_else(|| not_a_handle(Class::Op, number, name))
}

/// As [`op`], or one of the program's.
#[inline]
fn any_op(number: usize, name: &'static str) -> Result<OpId> {
    match number {
        0..PREDEFINED_END => op(number, name).map(OpId::Predefined),
        _ => Ok(OpId::User(number as u64)),
    }
}

fn any_op_number(op: OpId) -> usize {
    match op {
        OpId::Predefined(op) => predefined::op_number(op),
        OpId::User(number) => number as usize,
    }
}

fn handler_of(number: usize, name: &'static str) -> Result<Handler> {
    match number {
        predefined::ERRORS_ARE_FATAL => Ok(Handler::Fatal),
        predefined::ERRORS_ABORT => Ok(Handler::Abort),
        predefined::ERRORS_RETURN => Ok(Handler::Return),
        0..PREDEFINED_END => Err(not_a_handle(Class::Errhandler, number, name)),
        _ => handler::find(number as u64),
    }
}

/// Each time that a handler of the program's is given out, it is to be freed once more (MPI-5.0 §9.3.1).
fn handler_number(handler: Handler) -> usize {
    match handler {
        Handler::Fatal => predefined::ERRORS_ARE_FATAL,
        Handler::Abort => predefined::ERRORS_ABORT,
        Handler::Return => predefined::ERRORS_RETURN,
        Handler::User(user) => match handler::name(&user) {
            Some(number) => number as usize,
            None => predefined::ERRHANDLER_NULL,
        },
    }
}

#[cold]
#[inline(never)]
fn not_a_handle(class: Class, number: usize, name: &str) -> Error {
    let what = weft_error::strings::string(class as i32);
    argument(class, name, format_args!("{what} (handle {number:#x})"))
}
