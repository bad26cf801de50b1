//! Packing in the representation "external32" (MPI-5.0 §5.3).

use std::ffi::CStr;

use weft_abi_macros::mpi;
use weft_messages::external;
use weft_objects::TypeId;

use super::packing::pack_buffer;
use crate::argument::Address;
use crate::entry::Result;
use crate::output::{InOutCount, OutCount};

#[mpi(Pack_external)]
fn pack_external(
    datarep: &CStr,
    inbuf: Address,
    incount: i64,
    datatype: TypeId,
    outbuf: Address,
    outsize: i64,
    position: InOutCount,
) -> Result<()> {
    let into = pack_buffer(outbuf, outsize, &position);
    position.set(external::pack(
        datarep,
        inbuf.buffer(incount, datatype),
        into,
    )?)
}

#[mpi(Unpack_external)]
fn unpack_external(
    datarep: &CStr,
    inbuf: Address,
    insize: i64,
    position: InOutCount,
    outbuf: Address,
    outcount: i64,
    datatype: TypeId,
) -> Result<()> {
    let from = pack_buffer(inbuf, insize, &position);
    position.set(external::unpack(
        datarep,
        from,
        outbuf.buffer(outcount, datatype),
    )?)
}

#[mpi(Pack_external_size)]
fn pack_external_size(
    datarep: &CStr,
    incount: i64,
    datatype: TypeId,
    size: OutCount,
) -> Result<()> {
    size.set(Some(external::size(datarep, incount, datatype)?));
    Ok(())
}
