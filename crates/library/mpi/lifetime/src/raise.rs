//! Which handler an error goes to (MPI-5.0 §9.3): looked up here, where the call returns to the program.

use weft_error::{Error, Object, strings};
use weft_file_calls as file;
use weft_handle::CommId;
use weft_objects::comm::numbers::contexts;
use weft_objects::handler::{self, Handler, NO_OBJECT};
use weft_objects::{comm, session};
use weft_process::job;
use weft_process::phase::{Phase, phase, world};
use weft_window as window;

/// Handles an error of the MPI function `name`: by the handler of the object that the call named, if it is one,
/// else of the communicator that the error is about, else of `MPI_COMM_SELF` (MPI-5.0 §9.3). Returns the error's code.
#[cold]
pub fn raise(error: &Error, name: &str, object: Object) -> i32 {
    let (handler, number) = concerned(error, object);
    handle(&handler, number, error, name)
}

/// As [`raise`], by the handler that the call itself was given.
#[cold]
pub fn raise_to(handler: &Handler, error: &Error, name: &str) -> i32 {
    handle(handler, NO_OBJECT, error, name)
}

fn handle(handler: &Handler, number: u64, error: &Error, name: &str) -> i32 {
    // No code says which process the user has to look at.
    if error.is_nonsense && matches!(handler, Handler::Return | Handler::User(_)) {
        let line = format!("weft: rank {}: {name}: {error}\n", job::rank());
        eprint!("{line}");
    }
    handler.handle(number, error.code(), || {
        let class = strings::string(error.class as i32);
        format!("{name}: {error} ({class})")
    })
}

/// Whose handler an error goes to: the handler, and the number of the object.
fn concerned(error: &Error, object: Object) -> (Handler, u64) {
    let found = handler_and_number(object).or_else(|| handler_and_number(error.object));
    found.unwrap_or_else(|| (default_handler(), CommId::SELF.handle()))
}

/// The handler of an object and its number, if the object is there.
fn handler_and_number(object: Object) -> Option<(Handler, u64)> {
    // Outside there is no communicator or window whose handler could be asked.
    let inside = phase() == Phase::Active;
    match object {
        Object::None => None,
        Object::File(Some(id)) if inside && let Ok(file) = file::share(id) => {
            Some((file.handler(), id.0))
        }
        Object::File(_) => Some((handler::of_files().load(), NO_OBJECT)),
        Object::Session(id) => Some((session::handler_of(id).ok()?, id.0)),
        Object::Window(id) if inside => Some((window::share(id).ok()?.handler(), id.handle())),
        Object::Comm(id) if inside => Some((comm::share(id).ok()?.handler(), id.handle())),
        Object::CommNumbered(number) if inside => {
            let contexts = contexts();
            let object = match (contexts.comm(number), contexts.window(number)) {
                (Some(comm), _) => Object::Comm(comm),
                (_, Some(window)) => Object::Window(window),
                _ => Object::File(Some(contexts.file(number)?)),
            };
            handler_and_number(object)
        }
        Object::Window(_) | Object::Comm(_) | Object::CommNumbered(_) => None,
    }
}

/// The handler of errors that belong to no object: that of `MPI_COMM_SELF`, and before `MPI_Init` and after
/// `MPI_Finalize` the initial one (MPI-5.0 §9.3).
fn default_handler() -> Handler {
    match world() {
        Phase::Active => comm::self_comm().handler(),
        _ => Handler::Fatal,
    }
}
