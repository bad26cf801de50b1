//! The end of a communicator (MPI-5.0 §7.4.3, §11.10.4).

use weft_collective_calls as collective;
use weft_collective_calls::Form;
use weft_error::{Class, Result, argument};
use weft_handle::CommId;
use weft_messages::buffered::{self, Key, Owner};
use weft_objects::comm;

/// `MPI_Comm_disconnect` (MPI-5.0 §11.10.4): all have come here, so what is pending can complete, and what is in the
/// buffer has left it.
pub fn disconnect(id: CommId) -> Result<()> {
    check_not_predefined(id)?;
    buffered::flush(Owner::Comm(id))?;
    collective::barrier(Form::Blocking, id)?.run()?;
    free(id)
}

fn check_not_predefined(id: CommId) -> Result<()> {
    if id == CommId::WORLD || id == CommId::SELF {
        let what = "a predefined communicator cannot be freed";
        return Err(argument(Class::Comm, "comm", what));
    }
    Ok(())
}

/// `MPI_Comm_free`. Pending operations go on: they know their context and peers (MPI-5.0 §7.4.3). It stays if a
/// delete function of its attributes fails.
pub fn free(id: CommId) -> Result<()> {
    check_not_predefined(id)?;
    comm::share(id)?.attributes.delete_all(id.handle())?;
    buffered::flush(Owner::Comm(id))?;
    let comm = comm::remove(id)?;
    buffered::forget(Key::of(&comm));
    comm.arena.leave();
    comm.release_unless_held();
    Ok(())
}
