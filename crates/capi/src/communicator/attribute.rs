//! The predefined attributes of communicators (MPI-5.0 §9.1.2).

use std::ffi::{c_int, c_void};

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_mpi::attribute::{self, Attribute};
use weft_mpi::{Class, CommId};

use crate::entry::{Error, Result};
use crate::output::{Out, OutAddress};

#[mpi(Comm_get_attr)]
fn comm_get_attr(
    comm: CommId,
    comm_keyval: c_int,
    attribute_val: OutAddress,
    flag: Out<bool>,
) -> Result<()> {
    get(comm, comm_keyval, attribute_val, flag)
}

#[mpi(Attr_get)]
fn attr_get(comm: CommId, keyval: c_int, attribute_val: OutAddress, flag: Out<bool>) -> Result<()> {
    get(comm, keyval, attribute_val, flag)
}

fn get(comm: CommId, keyval: c_int, place: OutAddress, flag: Out<bool>) -> Result<()> {
    let attribute = match keyval {
        MPI_TAG_UB => Attribute::TagUb,
        MPI_IO => Attribute::Io,
        MPI_HOST => Attribute::Host,
        MPI_WTIME_IS_GLOBAL => Attribute::WtimeIsGlobal,
        MPI_APPNUM => Attribute::AppNum,
        MPI_LASTUSEDCODE => Attribute::LastUsedCode,
        MPI_UNIVERSE_SIZE => Attribute::UniverseSize,
        other => return Err(not_a_key(other)),
    };
    let value = attribute::value(comm, attribute)?;
    flag.set(value.is_some());
    if let Some(value) = value {
        place.set(value.cast::<c_void>());
    }
    Ok(())
}

#[cold]
fn not_a_key(key: c_int) -> Error {
    Error::new(
        Class::Keyval,
        format!("comm_keyval: {key} is no key of communicators"),
    )
}
