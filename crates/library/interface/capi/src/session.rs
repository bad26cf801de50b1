//! Sessions (MPI-5.0 §11.3).

use std::ffi::{CStr, c_int};

use weft_abi_macros::mpi;
use weft_handle::{InfoId, SessionId};
use weft_lifetime as lifetime;
use weft_objects::handler::Handler;
use weft_objects::{info, session};

use crate::argument::null_pointer;
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::{InOutInt, Out, OutString};

#[mpi(Session_init)]
fn session_init(info: Option<InfoId>, errhandler: Handler, session: Out<SessionId>) -> Result<()> {
    session.set(lifetime::session::init(info, errhandler)?);
    Ok(())
}

#[mpi(Session_finalize)]
fn session_finalize(session: InOut<SessionId>) -> Result<()> {
    lifetime::session::finalize(session.get("session")?)?;
    session.clear();
    Ok(())
}

#[mpi(Session_get_info)]
fn session_get_info(session: SessionId, info_used: Out<InfoId>) -> Result<()> {
    info_used.set(session::info(session)?);
    Ok(())
}

/// No hint says anything about process sets.
#[mpi(Session_get_num_psets)]
fn session_get_num_psets(
    session: SessionId,
    info: Option<InfoId>,
    npset_names: Out<c_int>,
) -> Result<()> {
    info.map_or(Ok(()), info::check)?;
    npset_names.set(session::set_count(session)? as c_int);
    Ok(())
}

/// The length goes in as that of the buffer and comes out as the one needed, both with the terminating null.
#[mpi(Session_get_nth_pset)]
fn session_get_nth_pset(
    session: SessionId,
    info: Option<InfoId>,
    n: c_int,
    pset_len: InOutInt,
    pset_name: Option<OutString>,
) -> Result<()> {
    info.map_or(Ok(()), info::check)?;
    let name = session::nth_set(session, n)?;
    let room = pset_len.get();
    if room > 0 {
        let pset_name = pset_name.ok_or_else(|| null_pointer("pset_name"))?;
        pset_name.set(name.to_bytes(), room);
    }
    pset_len.set(name.count_bytes() as c_int + 1);
    Ok(())
}

#[mpi(Session_get_pset_info)]
fn session_get_pset_info(session: SessionId, pset_name: &CStr, info: Out<InfoId>) -> Result<()> {
    info.set(session::set_info(session, pset_name)?);
    Ok(())
}
