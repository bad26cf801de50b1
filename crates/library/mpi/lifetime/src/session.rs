//! The beginning and the end of a session (MPI-5.0 §11.3).

use weft_error::Result;
use weft_handle::{InfoId, SessionId};
use weft_messages::buffered::{self, Key};
use weft_objects::handler::{Handler, Kind};
use weft_objects::session;

use super::models;

/// `MPI_Session_init`. The handler is the session's.
pub fn init(info: Option<InfoId>, handler: Handler) -> Result<SessionId> {
    let handler = handler.for_kind(Kind::Session)?;
    let level = match info {
        Some(info) => session::asked_level(info)?,
        None => None,
    };
    models::open_session(level)?;
    session::register(handler, level).inspect_err(|_| models::close_session())
}

/// `MPI_Session_finalize`, which detaches the session's buffer (MPI-5.0 §3.6). What was made from the session is the
/// program's to free before.
pub fn finalize(id: SessionId) -> Result<()> {
    session::check(id)?;
    models::complete()?;
    session::remove(id)?;
    buffered::forget(Key::Session(id));
    models::close_session();
    Ok(())
}
