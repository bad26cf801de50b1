//! Errors: the standard's class, and one line that says what is wrong and with which argument.

pub mod codes;
pub mod handler;
pub mod strings;
mod user_handler;

use std::borrow::Cow;
use std::fmt;

pub use handler::{Handler, HandlerCell, Object, raise};
pub(crate) use user_handler::current as current_handler;

macro_rules! classes {
    ($($name:ident = $number:literal,)*) => {
        /// An error class of MPI-5.0 §9.4, with the ABI's number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum Class {
            $($name = $number,)*
        }

        impl Class {
            /// All there are.
            pub(crate) const ALL: &[Class] = &[$(Class::$name),*];
        }
    };
}

classes! {
    Success = 0,
    Buffer = 1,
    Count = 2,
    Type = 3,
    Tag = 4,
    Comm = 5,
    Rank = 6,
    Request = 7,
    Root = 8,
    Group = 9,
    Op = 10,
    Topology = 11,
    Dims = 12,
    Arg = 13,
    Unknown = 14,
    Truncate = 15,
    Other = 16,
    Intern = 17,
    Pending = 18,
    InStatus = 19,
    Base = 24,
    Assert = 22,
    Disp = 26,
    File = 30,
    InfoKey = 31,
    InfoNoKey = 32,
    InfoValue = 33,
    Info = 34,
    Keyval = 36,
    LockType = 37,
    NoMem = 39,
    RmaAttach = 46,
    RmaRange = 48,
    RmaShared = 49,
    RmaSync = 50,
    Size = 52,
    UnsupportedOperation = 55,
    Win = 56,
    RmaFlavor = 57,
    ProcAborted = 58,
    ValueTooLarge = 59,
    Session = 60,
    Errhandler = 61,
    Abi = 62,
}

impl Class {
    /// The class of a number, if it has one here.
    pub(crate) fn numbered(number: i32) -> Option<Class> {
        let mut all = Class::ALL.iter().copied();
        all.find(|&class| class as i32 == number)
    }
}

/// What went wrong, and for whom. One word, so that a result that carries nothing else fits a register.
#[derive(Clone, Debug)]
pub struct Error(Box<Detail>);

/// What an [`Error`] says.
#[derive(Clone, Debug)]
pub struct Detail {
    pub class: Class,
    pub message: Cow<'static, str>,
    /// What the call returns where that is not the class: a callback's code.
    code: Option<i32>,
    /// Whose error handler is called where the call itself names no communicator: a request's.
    pub comm: Option<crate::CommId>,
    /// The handler that the call itself was given for its errors.
    handler: Option<Handler>,
    /// Which of the call's buffers with count and datatype it is about: what their names begin with.
    pub side: Option<&'static str>,
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
            message: message.into(),
            code: None,
            comm: None,
            handler: None,
            side: None,
        }))
    }

    /// The same, with the code that a function of the program's returned.
    pub fn with_code(mut self, code: i32) -> Error {
        self.0.code = Some(code);
        self
    }

    /// The same, for the handler that the call was given.
    pub fn for_handler(mut self, handler: Handler) -> Error {
        self.0.handler = Some(handler);
        self
    }

    /// What the call returns.
    pub fn code(&self) -> i32 {
        self.code.unwrap_or(self.class as i32)
    }

    /// The same with another text.
    pub fn with_message(mut self, message: String) -> Error {
        self.0.message = message.into();
        self
    }

    /// The same, on the communicator of the operation that failed.
    pub fn on(mut self, comm: Option<crate::CommId>) -> Error {
        self.0.comm = comm;
        self
    }
}

/// Says which of a call's buffers a result is about: `send`, `recv`, `origin`, `result` or `target`.
pub(crate) trait OfSide {
    fn of(self, side: &'static str) -> Self;
}

impl<T> OfSide for Result<T> {
    #[inline]
    fn of(self, side: &'static str) -> Self {
        self.map_err(|mut error| {
            error.0.side = Some(side);
            error
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<weft_engine::Exhausted> for Error {
    fn from(_: weft_engine::Exhausted) -> Error {
        Error::new(Class::NoMem, "too many requests are outstanding (2^28)")
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
        Error::new(
            Class::Count,
            "count: the data are larger than the address space",
        )
    }
}
