//! An error: its class, what is wrong, and the object that it is about.

use std::borrow::Cow;
use std::fmt;

use weft_handle::{CommId, FileId, SessionId, WindowId};

use super::class::Class;

/// The object that a call, or an error, is about. Its handler is looked up where the call returns to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    None,
    Comm(CommId),
    /// The communicator of this number: a request knows no more of its own, which may have no handle any more.
    CommNumbered(u32),
    Window(WindowId),
    Session(SessionId),
    /// None is `MPI_FILE_NULL`, to which errors of calls go that are on no file (MPI-5.0 §14.7).
    File(Option<FileId>),
}

/// What went wrong, and for whom. One word, so that a result that carries nothing else fits a register.
#[derive(Clone, Debug)]
pub struct Error(Box<Detail>);

/// What an [`Error`] says.
#[derive(Clone, Debug)]
pub struct Detail {
    pub class: Class,
    /// The function's argument that is wrong, if it is one: what it is, or its name in the function that was called.
    pub argument: Option<Cow<'static, str>>,
    /// What is wrong, with the argument if there is one.
    pub message: Cow<'static, str>,
    /// What the call returns where that is not the class: a callback's code.
    code: Option<i32>,
    /// What the error is about where the call itself names no object: a request's communicator.
    pub object: Object,
    /// Another process told something that no right one tells (`told`).
    pub is_nonsense: bool,
    /// Which of the call's buffers with count and datatype it is about: what their names begin with.
    pub buffer: Option<&'static str>,
}

impl std::ops::Deref for Error {
    type Target = Detail;
    fn deref(&self) -> &Detail {
        &self.0
    }
}

/// The result of an MPI call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    #[cold]
    pub fn new(class: Class, message: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new(Detail {
            class,
            argument: None,
            message: message.into(),
            code: None,
            object: Object::None,
            is_nonsense: false,
            buffer: None,
        }))
    }

    /// The same, as another process told nonsense.
    pub(crate) fn of_nonsense(mut self) -> Error {
        self.0.is_nonsense = true;
        self
    }

    /// The same, with the code that a function of the program's returned.
    pub fn with_code(mut self, code: i32) -> Error {
        self.0.code = Some(code);
        self
    }

    /// What the call returns.
    pub fn code(&self) -> i32 {
        self.code.unwrap_or(self.class as i32)
    }

    /// The same, with the argument named so.
    pub fn of_argument(mut self, name: impl Into<Cow<'static, str>>) -> Error {
        self.0.argument = Some(name.into());
        self
    }

    /// The same, about an object.
    pub fn on(mut self, object: Object) -> Error {
        self.0.object = object;
        self
    }
}

/// Says which of a call's buffers a result is about: `send`, `recv`, `origin`, `result` or `target`.
pub trait OfBuffer {
    fn of_buffer(self, buffer: &'static str) -> Self;
}

impl<T> OfBuffer for Result<T> {
    #[inline]
    fn of_buffer(self, buffer: &'static str) -> Self {
        self.map_err(|mut error| {
            error.0.buffer = Some(buffer);
            error
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(argument) = &self.argument {
            write!(f, "{argument}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<weft_reserve::NoMemory> for Error {
    #[cold]
    fn from(none: weft_reserve::NoMemory) -> Error {
        Error::new(Class::NoMem, none.to_string())
    }
}

impl From<weft_engine::Exhausted> for Error {
    fn from(_: weft_engine::Exhausted) -> Error {
        let what = "no memory for one more request, or too many are outstanding (2^28)";
        Error::new(Class::NoMem, what)
    }
}

impl From<weft_engine::Failure> for Error {
    /// Of a probe.
    fn from(_: weft_engine::Failure) -> Error {
        let what = "a process that this waits for is lost";
        Error::new(Class::ProcAborted, what)
    }
}

impl From<weft_engine::NotExtracted> for Error {
    fn from(why: weft_engine::NotExtracted) -> Error {
        match why {
            weft_engine::NotExtracted::Exhausted => weft_engine::Exhausted.into(),
            weft_engine::NotExtracted::Failed(failure) => failure.into(),
        }
    }
}

impl From<weft_datatype::Overflow> for Error {
    fn from(_: weft_datatype::Overflow) -> Error {
        let what = "the data are larger than the address space";
        Error::new(Class::Count, what).of_argument("count")
    }
}

/// An error about an argument: `what` is wrong with `argument`.
#[cold]
pub fn argument(class: Class, argument: &str, what: impl fmt::Display) -> Error {
    Error::new(class, what.to_string()).of_argument(argument.to_owned())
}
