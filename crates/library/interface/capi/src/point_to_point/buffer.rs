//! Buffers for buffered sends (MPI-5.0 §3.6).

use std::ffi::c_void;
use std::ptr::null;

use weft_abi::MPI_BUFFER_AUTOMATIC;
use weft_abi_macros::mpi;
use weft_handle::{CommId, SessionId};
use weft_messages::Request;
use weft_messages::buffered::{self, Owner, Space};

use crate::argument::{Address, Length};
use crate::entry::Result;
use crate::output::{Out, OutAddress, OutCount};

#[mpi(Buffer_attach)]
fn buffer_attach(buffer: Address, size: Length) -> Result<()> {
    buffered::attach(Owner::Process, space(buffer, size))
}

#[mpi(Comm_attach_buffer)]
fn comm_attach_buffer(comm: CommId, buffer: Address, size: Length) -> Result<()> {
    buffered::attach(Owner::Comm(comm), space(buffer, size))
}

#[mpi(Session_attach_buffer)]
fn session_attach_buffer(session: SessionId, buffer: Address, size: Length) -> Result<()> {
    buffered::attach(Owner::Session(session), space(buffer, size))
}

/// The size goes for nothing where the library allocates.
fn space(buffer: Address, size: Length) -> Space {
    if buffer.pointer() == MPI_BUFFER_AUTOMATIC.cast() {
        return Space::Automatic;
    }
    Space::Attached {
        base: buffer.pointer(),
        bytes: size.0,
    }
}

#[mpi(Buffer_detach)]
fn buffer_detach(buffer_addr: OutAddress, size: OutCount) -> Result<()> {
    detach(Owner::Process, buffer_addr, size)
}

#[mpi(Comm_detach_buffer)]
fn comm_detach_buffer(comm: CommId, buffer_addr: OutAddress, size: OutCount) -> Result<()> {
    detach(Owner::Comm(comm), buffer_addr, size)
}

#[mpi(Session_detach_buffer)]
fn session_detach_buffer(
    session: SessionId,
    buffer_addr: OutAddress,
    size: OutCount,
) -> Result<()> {
    detach(Owner::Session(session), buffer_addr, size)
}

/// A buffer whose size `size` cannot hold stays attached: it can still be detached by the other form.
fn detach(owner: Owner, buffer_addr: OutAddress, size: OutCount) -> Result<()> {
    let space = buffered::detach(owner, |space| size.holds(place(Some(space)).1))?;
    let (address, bytes) = place(space.as_ref());
    buffer_addr.set(address);
    size.set_exact(bytes)
}

/// Where a buffer is, and its size.
fn place(space: Option<&Space>) -> (*const c_void, i64) {
    match space {
        Some(Space::Attached { base, bytes }) => (base.cast_const().cast(), *bytes as i64),
        Some(Space::Automatic) => (MPI_BUFFER_AUTOMATIC, 0),
        None => (null(), 0),
    }
}

#[mpi(Buffer_flush)]
fn buffer_flush() -> Result<()> {
    buffered::flush(Owner::Process)
}

#[mpi(Comm_flush_buffer)]
fn comm_flush_buffer(comm: CommId) -> Result<()> {
    buffered::flush(Owner::Comm(comm))
}

#[mpi(Session_flush_buffer)]
fn session_flush_buffer(session: SessionId) -> Result<()> {
    buffered::flush(Owner::Session(session))
}

#[mpi(Buffer_iflush)]
fn buffer_iflush(request: Out<Request>) -> Result<()> {
    request.set(buffered::iflush(Owner::Process)?);
    Ok(())
}

#[mpi(Comm_iflush_buffer)]
fn comm_iflush_buffer(comm: CommId, request: Out<Request>) -> Result<()> {
    request.set(buffered::iflush(Owner::Comm(comm))?);
    Ok(())
}

#[mpi(Session_iflush_buffer)]
fn session_iflush_buffer(session: SessionId, request: Out<Request>) -> Result<()> {
    request.set(buffered::iflush(Owner::Session(session))?);
    Ok(())
}
