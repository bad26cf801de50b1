//! Asking a file (MPI-5.0 §14.2.4 to §14.2.8, §14.3, §14.4, §14.5.1, §14.6.1).

use std::ffi::c_int;

use weft_abi::MPI_MAX_DATAREP_STRING;
use weft_abi_macros::mpi;
use weft_file_calls as file;
use weft_handle::{FileId, GroupId, InfoId};
use weft_objects::TypeId;
use weft_objects::group;

use crate::entry::Result;
use crate::output::{Out, OutCount, OutString};

#[mpi(File_get_size)]
fn file_get_size(fh: FileId, size: Out<i64>) -> Result<()> {
    size.set(file::size(fh)?);
    Ok(())
}

#[mpi(File_get_group)]
fn file_get_group(fh: FileId, group: Out<GroupId>) -> Result<()> {
    group.set(group::register(file::share(fh)?.group().clone())?);
    Ok(())
}

#[mpi(File_get_amode)]
fn file_get_amode(fh: FileId, amode: Out<c_int>) -> Result<()> {
    amode.set(file::share(fh)?.amode());
    Ok(())
}

#[mpi(File_get_info)]
fn file_get_info(fh: FileId, info_used: Out<InfoId>) -> Result<()> {
    info_used.set(file::info(fh)?);
    Ok(())
}

#[mpi(File_get_view)]
fn file_get_view(
    fh: FileId,
    disp: Out<i64>,
    etype: Out<TypeId>,
    filetype: Out<TypeId>,
    datarep: OutString,
) -> Result<()> {
    let (displacement, of_element, of_file, name) = file::get_view(fh)?;
    disp.set(displacement);
    etype.set(of_element);
    filetype.set(of_file);
    datarep.set(name.as_bytes(), MPI_MAX_DATAREP_STRING);
    Ok(())
}

#[mpi(File_get_position)]
fn file_get_position(fh: FileId, offset: Out<i64>) -> Result<()> {
    offset.set(file::position(fh)?);
    Ok(())
}

#[mpi(File_get_position_shared)]
fn file_get_position_shared(fh: FileId, offset: Out<i64>) -> Result<()> {
    offset.set(file::position_shared(fh)?);
    Ok(())
}

#[mpi(File_get_byte_offset)]
fn file_get_byte_offset(fh: FileId, offset: i64, disp: Out<i64>) -> Result<()> {
    disp.set(file::byte_offset(fh, offset)?);
    Ok(())
}

#[mpi(File_get_type_extent)]
fn file_get_type_extent(fh: FileId, datatype: TypeId, extent: OutCount) -> Result<()> {
    extent.set(Some(file::type_extent(fh, datatype)?));
    Ok(())
}

#[mpi(File_get_atomicity)]
fn file_get_atomicity(fh: FileId, flag: Out<bool>) -> Result<()> {
    flag.set(file::share(fh)?.is_atomic());
    Ok(())
}
