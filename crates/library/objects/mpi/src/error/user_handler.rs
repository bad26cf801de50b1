//! Error handlers of the program's (MPI-5.0 §9.3.1), from before `MPI_Init` on.
//!
//! A handler lives as long as a handle names it or an object has it. Its handle is valid until it has been freed as
//! often as it was given out; an object that still has the handler then gives out a new one.

use std::fmt;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::handler::{Handler, argument};
use super::{Class, Error, Result};
use crate::process::kind;
use crate::table::Table;

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

static HANDLERS: LazyLock<Table<UserHandler>> = LazyLock::new(|| Table::new(kind::ERRHANDLER));

impl fmt::Debug for UserHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a handler for {}", self.kind)
    }
}

impl UserHandler {
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn call(&self, object: u64, code: i32) -> i32 {
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
pub(crate) fn current(index: u32) -> Option<u64> {
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
        assert!(handler.clone().of(Kind::Session).is_ok());
        let error = handler.of(Kind::Comm).unwrap_err();
        assert_eq!(error.class, Class::Errhandler);
        assert!(Handler::Return.of(Kind::File).is_ok());
    }
}
