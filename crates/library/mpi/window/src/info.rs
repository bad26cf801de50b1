//! A window's hints, told and changed (MPI-5.0 §12.2.7).

use weft_error::Result;
use weft_handle::{InfoId, WindowId};
use weft_objects::info;

use super::object::find;

/// `MPI_Win_get_info`: every hint that the library knows.
pub fn info(id: WindowId) -> Result<InfoId> {
    let window = find(id)?;
    let pairs = window.hints.lock().pairs(window.flavor);
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    info::create_with(&pairs)
}

/// `MPI_Win_set_info`. Where memory is stays as it is.
pub fn set_info(id: WindowId, info: InfoId) -> Result<()> {
    let window = find(id)?;
    let mut hints = window.hints.lock().clone();
    let (noncontiguous, alignment) = (hints.noncontiguous, hints.alignment);
    hints.update(info)?;
    (hints.noncontiguous, hints.alignment) = (noncontiguous, alignment);
    *window.hints.lock() = hints;
    Ok(())
}
