//! `MPI_Pack` and `MPI_Unpack` (MPI-5.0 §5.2).

use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_messages::packing::{self, PackBuffer};
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;
use crate::output::{InOutCount, OutCount};

pub fn pack_buffer(address: Address, size: i64, position: &InOutCount) -> PackBuffer {
    PackBuffer {
        address: address.pointer(),
        size,
        position: position.get(),
    }
}

#[mpi(Pack)]
fn pack(
    inbuf: Address,
    incount: i64,
    datatype: TypeId,
    outbuf: Address,
    outsize: i64,
    position: InOutCount,
    comm: CommId,
) -> Result<()> {
    let into = pack_buffer(outbuf, outsize, &position);
    position.set(packing::pack(inbuf.buffer(incount, datatype), into, comm)?)
}

#[mpi(Unpack)]
fn unpack(
    inbuf: Address,
    insize: i64,
    position: InOutCount,
    outbuf: Address,
    outcount: i64,
    datatype: TypeId,
    comm: CommId,
) -> Result<()> {
    let from = pack_buffer(inbuf, insize, &position);
    position.set(packing::unpack(
        from,
        outbuf.buffer(outcount, datatype),
        comm,
    )?)
}

#[mpi(Pack_size)]
fn pack_size(incount: i64, datatype: TypeId, comm: CommId, size: OutCount) -> Result<()> {
    size.set(Some(packing::size(incount, datatype, comm)?));
    Ok(())
}
