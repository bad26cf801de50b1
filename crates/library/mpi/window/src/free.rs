//! The end of a window.

use weft_collective_calls::synchronize;
use weft_error::Result;
use weft_handle::WindowId;

use super::object::{remove, share};

/// `MPI_Win_free`: collective, and not before all have come. It stays if a delete function of its attributes fails.
pub fn free(id: WindowId) -> Result<()> {
    let window = share(id)?;
    window.epochs.check_closed()?;
    window.attributes.delete_all(id.handle())?;
    if let Some(far) = &window.far {
        far.settle(&window.comm)?;
    }
    synchronize(&window.comm)?;
    remove(id)?;
    let stopped = match &window.far {
        None => Ok(()),
        Some(far) => far.stop(&window.comm),
    };
    window.close();
    stopped
}
