//! Info objects (MPI-5.0 chapter 10), the deprecated functions among them.

use std::ffi::{CStr, c_int};

use weft_abi::MPI_MAX_INFO_KEY;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_handle::InfoId;
use weft_objects::info;

use crate::argument::{Length, Strings};
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::{InOutInt, Out, OutString};

#[mpi(Info_create)]
fn info_create(info: Out<InfoId>) -> Result<()> {
    info.set(info::create()?);
    Ok(())
}

#[mpi(Info_create_env)]
fn info_create_env(argc: c_int, argv: Strings, info: Out<InfoId>) -> Result<()> {
    let count = Length(usize::try_from(argc).unwrap_or(0));
    info.set(info::create_env(&argv.list(count))?);
    Ok(())
}

#[mpi(Info_dup)]
fn info_dup(info: InfoId, newinfo: Out<InfoId>) -> Result<()> {
    newinfo.set(info::dup(info)?);
    Ok(())
}

#[mpi(Info_free)]
fn info_free(info: InOut<InfoId>) -> Result<()> {
    info::free(info.get("info")?)?;
    info.clear();
    Ok(())
}

#[mpi(Info_set)]
fn info_set(info: InfoId, key: &CStr, value: &CStr) -> Result<()> {
    info::set(info, key, value)
}

#[mpi(Info_delete)]
fn info_delete(info: InfoId, key: &CStr) -> Result<()> {
    info::delete(info, key)
}

#[mpi(Info_get_nkeys)]
fn info_get_nkeys(info: InfoId, nkeys: Out<c_int>) -> Result<()> {
    nkeys.set(info::key_count(info)? as c_int);
    Ok(())
}

#[mpi(Info_get_nthkey)]
fn info_get_nthkey(info: InfoId, n: c_int, key: OutString) -> Result<()> {
    key.set(info::nth_key(info, n)?.as_bytes(), MPI_MAX_INFO_KEY);
    Ok(())
}

/// The length goes in as that of the buffer and comes out as the one needed, both with the terminating null.
#[mpi(Info_get_string)]
fn info_get_string(
    info: InfoId,
    key: &CStr,
    buflen: InOutInt,
    value: Option<OutString>,
    flag: Out<bool>,
) -> Result<()> {
    let found = info::value(info, key)?;
    flag.set(found.is_some());
    let Some(found) = found else {
        return Ok(());
    };
    let room = buflen.get();
    if room < 0 {
        let what = format_args!("{room} is negative");
        return Err(argument(Class::Arg, "buflen", what));
    }
    if let Some(value) = value
        && room > 0
    {
        value.set(found.as_bytes(), room);
    }
    buflen.set(found.as_bytes_with_nul().len() as c_int);
    Ok(())
}

/// The length is that of the buffer without the terminating null.
#[mpi(Info_get)]
fn info_get(
    info: InfoId,
    key: &CStr,
    valuelen: Length,
    value: OutString,
    flag: Out<bool>,
) -> Result<()> {
    let found = info::value(info, key)?;
    flag.set(found.is_some());
    if let Some(found) = found {
        let room = c_int::try_from(valuelen.0 + 1).unwrap_or(c_int::MAX);
        value.set(found.as_bytes(), room);
    }
    Ok(())
}

#[mpi(Info_get_valuelen)]
fn info_get_valuelen(
    info: InfoId,
    key: &CStr,
    valuelen: Out<c_int>,
    flag: Out<bool>,
) -> Result<()> {
    let found = info::value(info, key)?;
    flag.set(found.is_some());
    if let Some(found) = found {
        valuelen.set(found.count_bytes() as c_int);
    }
    Ok(())
}
