//! Opening and closing files, sizes, views, pointers, consistency (MPI-5.0 §14.2, §14.3, §14.4, §14.6).

use std::ffi::{CStr, c_int};

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_file_calls as file;
use weft_file_calls::Whence;
use weft_handle::{CommId, FileId, InfoId};
use weft_objects::TypeId;

use crate::entry::Result;
use crate::handle::InOut;
use crate::output::Out;

#[mpi(File_open)]
fn file_open(
    comm: CommId,
    filename: &CStr,
    amode: c_int,
    info: Option<InfoId>,
    fh: Out<FileId>,
) -> Result<()> {
    fh.set(file::open(comm, filename, amode, info)?);
    Ok(())
}

/// The file is closed, whatever went wrong with that.
#[mpi(File_close)]
fn file_close(fh: InOut<FileId>) -> Result<()> {
    let id = fh.get("fh")?;
    let closed = file::close(id);
    if file::share(id).is_err() && (closed.is_ok() || !is_unknown(&closed)) {
        fh.clear();
    }
    closed
}

/// Whether the handle named no file from the start.
fn is_unknown(closed: &Result<()>) -> bool {
    closed
        .as_ref()
        .is_err_and(|error| error.class == Class::File)
}

#[mpi(File_delete)]
fn file_delete(filename: &CStr, info: Option<InfoId>) -> Result<()> {
    file::delete(filename, info)
}

#[mpi(File_set_size)]
fn file_set_size(fh: FileId, size: i64) -> Result<()> {
    file::set_size(fh, size)
}

#[mpi(File_preallocate)]
fn file_preallocate(fh: FileId, size: i64) -> Result<()> {
    file::preallocate(fh, size)
}

#[mpi(File_set_info)]
fn file_set_info(fh: FileId, info: InfoId) -> Result<()> {
    file::set_info(fh, info)
}

#[mpi(File_set_view)]
fn file_set_view(
    fh: FileId,
    disp: i64,
    etype: TypeId,
    filetype: TypeId,
    datarep: &CStr,
    info: Option<InfoId>,
) -> Result<()> {
    file::set_view(fh, disp, etype, filetype, datarep, info)
}

#[mpi(File_set_atomicity)]
fn file_set_atomicity(fh: FileId, flag: bool) -> Result<()> {
    file::set_atomicity(fh, flag)
}

#[mpi(File_sync)]
fn file_sync(fh: FileId) -> Result<()> {
    file::sync(fh)
}

fn whence(number: c_int) -> Result<Whence> {
    match number {
        MPI_SEEK_SET => Ok(Whence::Start),
        MPI_SEEK_CUR => Ok(Whence::Current),
        MPI_SEEK_END => Ok(Whence::End),
        _ => {
            let what = format_args!("{number} is none of MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END");
            Err(argument(Class::Arg, "whence", what))
        }
    }
}

#[mpi(File_seek)]
fn file_seek(fh: FileId, offset: i64, whence: c_int) -> Result<()> {
    file::seek(fh, offset, self::whence(whence)?)
}

#[mpi(File_seek_shared)]
fn file_seek_shared(fh: FileId, offset: i64, whence: c_int) -> Result<()> {
    file::seek_shared(fh, offset, self::whence(whence)?)
}
