//! What an error leads to (MPI-5.0 §9.3).

use parking_lot::Mutex;
use std::sync::Arc;

pub use super::user_handler::{Function, Kind, UserHandler, create, find, free, name};
use super::{Class, Error, Result, codes};
use crate::lifetime::Phase;
use crate::{CommId, SessionId, WindowId, session};

/// An error handler.
#[derive(Clone, Debug)]
pub enum Handler {
    /// `MPI_ERRORS_ARE_FATAL`: every process of the job ends.
    Fatal,
    /// `MPI_ERRORS_ABORT`: every process of the communicator ends.
    Abort,
    /// `MPI_ERRORS_RETURN`: the call returns the class.
    Return,
    /// A function of the program's is called, and then the call returns.
    User(Arc<UserHandler>),
}

impl Handler {
    /// The same, for an object of a kind: the program's handlers are for one kind (MPI-5.0 §9.3).
    pub fn of(self, kind: Kind) -> Result<Handler> {
        match &self {
            Handler::User(user) if user.kind() != kind => {
                let what = format_args!("made for {}, not for {kind}", user.kind());
                Err(argument(Class::Errhandler, "errhandler", what))
            }
            _ => Ok(self),
        }
    }

    /// Handles an error of the object of that number, and returns what the call returns. `line` says what is wrong.
    #[cold]
    pub fn handle(&self, object: u64, code: i32, line: impl FnOnce() -> String) -> i32 {
        match self {
            Handler::Return => code,
            Handler::User(user) => user.call(object, code),
            Handler::Fatal | Handler::Abort => crate::process::abort(code, &line()),
        }
    }

    /// `MPI_Comm_call_errhandler` and its kin. `function` is the call's name.
    pub fn call(&self, object: u64, code: i32, function: &str) {
        self.handle(object, code, || {
            let text = codes::text_of(code).unwrap_or_default();
            format!("{function}: error {code}: {}", text.to_string_lossy())
        });
    }
}

/// An object's handler, which any thread may replace.
#[derive(Debug)]
pub struct HandlerCell(Mutex<Handler>);

impl HandlerCell {
    pub const fn new(handler: Handler) -> HandlerCell {
        HandlerCell(Mutex::new(handler))
    }

    pub fn load(&self) -> Handler {
        self.0.lock().clone()
    }

    pub fn store(&self, handler: Handler) {
        *self.0.lock() = handler;
    }
}

/// The handler of files that are opened from here on, and of calls that are on no file (MPI-5.0 §14.7).
static FILES: HandlerCell = HandlerCell::new(Handler::Return);

/// The handler of `MPI_FILE_NULL`.
pub fn of_files() -> &'static HandlerCell {
    &FILES
}

/// The object that a call was made on.
#[derive(Clone, Copy, Debug)]
pub enum Object {
    None,
    Comm(CommId),
    Window(WindowId),
    Session(SessionId),
    /// No file is open, so it is `MPI_FILE_NULL`, whatever the call named.
    File,
}

/// Handles an error of the MPI function `name`: by the handler of the object that the call named, if it is one,
/// else of the operation's own communicator, else of `MPI_COMM_SELF` (MPI-5.0 §9.3). Returns the error's code.
#[cold]
pub fn raise(error: &Error, name: &str, object: Object) -> i32 {
    let (handler, number) = concerned(error, object);
    handler.handle(number, error.code(), || {
        let class = super::strings::string(error.class as i32);
        format!("{name}: {error} ({class})")
    })
}

/// The number of no object: its handle is null.
pub const NO_OBJECT: u64 = u64::MAX;

/// Whose handler an error goes to: the handler, and the number of the object.
fn concerned(error: &Error, object: Object) -> (Handler, u64) {
    if let Some(handler) = &error.handler {
        return (handler.clone(), NO_OBJECT);
    }
    // Outside there is no object whose handler could be asked.
    let inside = crate::lifetime::phase() == Phase::Active;
    let comm = match object {
        Object::File => return (FILES.load(), NO_OBJECT),
        Object::Session(session) => match session::handler_of(session) {
            Ok(handler) => return (handler, session.0),
            Err(_) => None,
        },
        Object::Comm(comm) => Some(comm),
        Object::Window(id) => match crate::window::share(id) {
            Ok(window) if inside => return (window.handler(), id.0),
            _ => None,
        },
        Object::None => None,
    };
    let found = [comm, error.comm]
        .into_iter()
        .flatten()
        .filter(|_| inside)
        .find_map(|id| Some((crate::comm::share(id).ok()?.handler(), id.0)));
    found.unwrap_or_else(|| (crate::process::default_handler(), CommId::SELF.0))
}

/// The handler of a communicator.
pub fn handler_of(comm: CommId) -> Result<Handler> {
    Ok(crate::comm::find(comm)?.handler())
}

/// Replaces a communicator's handler.
pub fn set_handler(comm: CommId, handler: Handler) -> Result<()> {
    crate::comm::find(comm)?.set_handler(handler.of(Kind::Comm)?);
    Ok(())
}

/// An error about an argument: `what` is wrong with `argument`.
#[cold]
pub(crate) fn argument(class: Class, argument: &str, what: impl std::fmt::Display) -> Error {
    Error::new(class, format!("{argument}: {what}"))
}
