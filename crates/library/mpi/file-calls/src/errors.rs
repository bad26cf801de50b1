//! Errors of files: the standard's classes of what the operating system says (MPI-5.0 §14.7).

use std::io;
use std::path::Path;

use weft_error::{Class, Error};
use weft_file::Creation;

/// The class of an error of the operating system.
fn class(error: &io::Error) -> Class {
    match error.raw_os_error() {
        Some(libc::ENOENT) => Class::NoSuchFile,
        Some(libc::EEXIST) => Class::FileExists,
        Some(libc::EACCES | libc::EPERM) => Class::Access,
        Some(libc::EROFS) => Class::ReadOnly,
        Some(libc::ENOSPC) => Class::NoSpace,
        Some(libc::EDQUOT) => Class::Quota,
        Some(libc::ETXTBSY | libc::EBUSY) => Class::FileInUse,
        Some(libc::ENAMETOOLONG | libc::ENOTDIR | libc::EISDIR | libc::ELOOP) => Class::BadFile,
        Some(libc::EOPNOTSUPP | libc::ENOSYS) => Class::UnsupportedOperation,
        Some(libc::ENOMEM) => Class::NoMem,
        _ => Class::Io,
    }
}

/// The error of a call on a file, which it names.
#[cold]
pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    let text = format!("{}: {error}", path.display());
    Error::new(class(error), text).of_argument("fh")
}

/// The error of a call that is given the file's name.
#[cold]
pub(super) fn not_opened(path: &Path, error: &io::Error) -> Error {
    failed(path, error).of_argument("filename")
}

/// The error that a call has on all processes when another one had it.
#[cold]
pub(super) fn elsewhere(class: Class) -> Error {
    Error::new(
        class,
        "another process of the file's group could not do its part",
    )
}

/// What the first process does decides who may be the first.
pub(super) fn after_first(rank: u32, creation: Creation) -> Creation {
    match rank {
        0 => creation,
        _ => Creation::MustExist,
    }
}
