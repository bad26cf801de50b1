//! Error handlers (MPI-5.0 §9.3): the predefined ones and the program's (§9.3.1), from before `MPI_Init` on.
//!
//! A handler of the program's lives as long as a handle names it or an object has it. Its handle is valid until it has been
//! freed as often as it was given out; an object that still has the handler then gives out a new one.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use weft_error::{Class, Error, Result, argument, codes};
use weft_handle::kind;
use weft_handle::table::Table;
use weft_process::job;

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
    pub fn for_kind(self, kind: Kind) -> Result<Handler> {
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
            Handler::Fatal | Handler::Abort => job::abort(code, &line()),
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

/// The number of no object: its handle is null.
pub const NO_OBJECT: u64 = u64::MAX;

/// The handler of files that are opened from here on, and of calls that are on no file (MPI-5.0 §14.7).
static FILES: HandlerCell = HandlerCell::new(Handler::Return);

/// The handler of `MPI_FILE_NULL`.
pub fn of_files() -> &'static HandlerCell {
    &FILES
}

/// The kind of objects that a handler is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Comm,
    Window,
    File,
    Session,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Comm => "communicators",
            Kind::Window => "windows",
            Kind::File => "files",
            Kind::Session => "sessions",
        })
    }
}

/// Takes the number of the object and the error's code, and gives the code that the call returns.
pub type Function = Box<dyn Fn(u64, i32) -> i32 + Send + Sync>;

/// A function that is called with errors.
pub struct UserHandler {
    kind: Kind,
    function: Function,
    handle: Mutex<Handle>,
}

#[derive(Default)]
struct Handle {
    number: u64,
    /// How often it is given out and not freed; with none there is no handle.
    given: u32,
}

static HANDLERS: Table<UserHandler> = Table::new(kind::ERRHANDLER);

impl fmt::Debug for UserHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a handler for {}", self.kind)
    }
}

impl UserHandler {
    pub fn kind(&self) -> Kind {
        self.kind
    }

    fn call(&self, object: u64, code: i32) -> i32 {
        (self.function)(object, code)
    }
}

/// `MPI_Comm_create_errhandler` and its kin: a handler that has no handle yet.
pub fn create(kind: Kind, function: Function) -> Handler {
    Handler::User(Arc::new(UserHandler {
        kind,
        function,
        handle: Mutex::default(),
    }))
}

/// A handle for a handler of the program's, to be freed once more; none if there are too many.
pub fn name(handler: &Arc<UserHandler>) -> Option<u64> {
    let mut handle = handler.handle.lock();
    if handle.given == 0 {
        handle.number = HANDLERS.insert(handler.clone())?;
    }
    handle.given += 1;
    Some(handle.number)
}

/// The handler of the program's that a handle names.
pub fn find(number: u64) -> Result<Handler> {
    let found = HANDLERS.share(number);
    found.map(Handler::User).ok_or_else(not_a_handler)
}

#[cold]
fn not_a_handler() -> Error {
    let what = "not an error handler, or a freed one";
    argument(Class::Errhandler, "errhandler", what)
}

/// `MPI_Errhandler_free`. A predefined handler stays.
pub fn free(handler: &Handler) -> Result<()> {
    let Handler::User(user) = handler else {
        return Ok(());
    };
    let mut handle = user.handle.lock();
    match handle.given {
        0 => return Err(not_a_handler()),
        1 => drop(HANDLERS.remove(handle.number)),
        _ => {}
    }
    handle.given -= 1;
    Ok(())
}

/// The live handle of an error handler at an index.
pub fn current(index: u32) -> Option<u64> {
    HANDLERS.current(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_freed_as_often_as_it_is_given() {
        let handler = create(Kind::Window, Box::new(|object, code| code + object as i32));
        let Handler::User(user) = &handler else {
            unreachable!()
        };
        let first = name(user).unwrap();
        assert_eq!(name(user), Some(first));
        free(&find(first).unwrap()).unwrap();
        assert_eq!(find(first).unwrap().handle(5, 10, String::new), 15);
        free(&handler).unwrap();
        assert_eq!(find(first).unwrap_err().class, Class::Errhandler);
        assert!(free(&handler).is_err());
        // An object may have it still.
        let again = name(user).unwrap();
        assert_ne!(again, first);
        assert!(find(again).is_ok());
        free(&handler).unwrap();
    }

    #[test]
    fn a_handler_is_for_one_kind() {
        let handler = create(Kind::Session, Box::new(|_, code| code));
        assert!(handler.clone().for_kind(Kind::Session).is_ok());
        let error = handler.for_kind(Kind::Comm).unwrap_err();
        assert_eq!(error.class, Class::Errhandler);
        assert!(Handler::Return.for_kind(Kind::File).is_ok());
    }
}
