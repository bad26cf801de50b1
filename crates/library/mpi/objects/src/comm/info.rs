//! A communicator's hints, told and changed (MPI-5.0 §7.4.4).

use weft_error::Result;
use weft_handle::{CommId, InfoId};

use super::table::find;
use crate::info;

/// `MPI_Comm_set_info`: hints that it does not name stay.
pub fn set(comm: CommId, info: InfoId) -> Result<()> {
    let comm = find(comm)?;
    let mut hints = comm.hints().clone();
    hints.set_all(Some(info))?;
    hints.hold(comm.lane_selection());
    comm.set_hints(hints);
    Ok(())
}

/// `MPI_Comm_get_info`.
pub fn get(comm: CommId) -> Result<InfoId> {
    let hints = find(comm)?.hints().clone();
    info::create_with(&hints.list())
}
