//! Buffers for buffered sends (MPI-5.0 §3.6).

use weft_abi_macros::mpi;
use weft_mpi::buffered;

use crate::argument::{Address, OutAddress, OutCount};
use crate::entry::Result;

#[mpi(Buffer_attach)]
fn buffer_attach(buffer: Address, size: i64) -> Result<()> {
    buffered::attach(buffer.pointer(), size)
}

#[mpi(Buffer_detach)]
fn buffer_detach(buffer_addr: OutAddress, size: OutCount) -> Result<()> {
    let (address, bytes) = buffered::detach()?;
    buffer_addr.set(address.cast());
    size.set_exact(bytes as i64)
}

#[mpi(Buffer_flush)]
fn buffer_flush() -> Result<()> {
    buffered::flush()
}
