//! Asking a file: hints (MPI-5.0 §14.2.8) and error handler (§9.3.3).

use weft_error::Result;
use weft_handle::{FileId, InfoId};
use weft_objects::handler::{Handler, Kind, of_files};

use super::object::share;

/// `MPI_File_get_info`.
pub fn info(id: FileId) -> Result<InfoId> {
    share(id)?.hints.lock().info()
}

/// The handler of a file, or, of none, the one of `MPI_FILE_NULL`: that of files that are opened from here on.
pub fn handler_of(file: Option<FileId>) -> Result<Handler> {
    Ok(match file {
        None => of_files().load(),
        Some(id) => share(id)?.handler(),
    })
}

/// Replaces it.
pub fn set_handler(file: Option<FileId>, handler: Handler) -> Result<()> {
    let found = file.map(share).transpose()?;
    let handler = handler.for_kind(Kind::File)?;
    match found {
        None => of_files().store(handler),
        Some(file) => file.set_handler(handler),
    }
    Ok(())
}
