//! Opening, closing and deleting files (MPI-5.0 §14.2.1 to §14.2.3).

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use weft_collective_calls::synchronize;
use weft_error::told::{Reader, Teller};
use weft_error::{Class, Result, argument};
use weft_file::Descriptor;
use weft_handle::{CommId, FileId, InfoId};
use weft_kernel::above_standard;
use weft_objects::comm::Comm;
use weft_objects::info;

use super::agreement::{check_same, exchange, settle};
use super::errors::{after_first, not_opened};
use super::hints::{Hints, Settings};
use super::mode::Mode;
use super::object::{File, Opened, register, remove, share};
use super::pointer::SharedPointer;

/// Kinds of file systems by which ROMIO lets a program choose how it reaches a file. The kernel reaches all of these
/// alike, so such a word before a colon is no part of the name (MPI-5.0 §14.2.1); `./ufs:data` is a file of that name.
const PREFIXES: [&[u8]; 14] = [
    b"ufs",
    b"nfs",
    b"xfs",
    b"pfs",
    b"panfs",
    b"lustre",
    b"gpfs",
    b"bgl",
    b"bglockless",
    b"zoidfs",
    b"pvfs",
    b"pvfs2",
    b"ime",
    b"testfs",
];

fn without_prefix(name: &[u8]) -> &[u8] {
    let mut parts = name.splitn(2, |byte| *byte == b':');
    match (parts.next(), parts.next()) {
        (Some(word), Some(rest))
            if PREFIXES
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known)) =>
        {
            rest
        }
        _ => name,
    }
}

fn path(name: &CStr) -> Result<&Path> {
    match without_prefix(name.to_bytes()) {
        b"" => Err(argument(Class::BadFile, "filename", "an empty name")),
        name => Ok(Path::new(OsStr::from_bytes(name))),
    }
}

/// `MPI_File_open`. The first process makes the file if it is to be made; then the others open it.
pub fn open(comm: CommId, name: &CStr, amode: i32, info: Option<InfoId>) -> Result<FileId> {
    let parent = weft_objects::comm::share_unrevoked(comm)?;
    parent.check_intra("comm")?;
    let comm = weft_communicators::create::private(&parent)?;
    let made = opened(&comm, name, amode, info).and_then(|opened| {
        let shared = SharedPointer::new(&comm)?;
        Ok((opened, shared))
    });
    let (opened, shared) = made.inspect_err(|_| comm.release_numbers())?;
    let file = File::new(opened, comm, shared);
    if file.mode.appends() {
        append(&file)?;
    }
    register(file)
}

fn opened(comm: &Comm, name: &CStr, amode: i32, info: Option<InfoId>) -> Result<Opened> {
    let mut hints = Hints::none(comm.size() as usize);
    let mut check = || -> Result<_> {
        let (mode, path) = (Mode::new(amode)?, path(name)?);
        hints.update(info)?;
        Ok((mode, path))
    };
    let checked = check();
    let settings = hints.settings();
    let [window, unit] = [settings.words()[1], settings.words()[2]];
    let words = checked
        .as_ref()
        .map(|_| {
            let [aggregators, .., reading, writing] = settings.words();
            [amode.into(), aggregators, window, unit, reading, writing]
        })
        .map_err(|error| error.clone());
    let settings = exchange(comm, words, |told| {
        check_same(told, 0, "amode")?;
        let [_, aggregators, window, unit, reading, writing] = told[0];
        Settings::told([aggregators, window, unit, reading, writing])
    })?;
    let (mode, path) = checked?;
    let descriptor = open_in_turn(comm, path, mode)?;
    Ok(Opened {
        path: path.to_owned(),
        descriptor,
        mode,
        hints,
        settings,
    })
}

/// The first process opens the file, and when it has it the others do.
fn open_in_turn(comm: &Comm, path: &Path, mode: Mode) -> Result<Descriptor> {
    let open = || {
        let creation = after_first(comm.rank(), mode.creation());
        let opened = above_standard(|| Descriptor::open(path, mode.permission(), creation));
        opened.map_err(|error| not_opened(path, &error))
    };
    let first = (comm.rank() == 0).then(open);
    let failed = match &first {
        Some(Err(error)) => Err(error.clone()),
        _ => Ok(()),
    };
    settle(comm, failed)?;
    let opened = first.unwrap_or_else(open);
    settle(
        comm,
        opened.as_ref().map(drop).map_err(|error| error.clone()),
    )?;
    opened
}

/// All pointers are at the end of the file (MPI-5.0 §14.2.1).
fn append(file: &File) -> Result<()> {
    let size = file.descriptor.size().map_err(|error| file.failed(&error));
    let end = exchange(&file.comm, size.map(|size| [size as i64]), |told| {
        let mut first = Reader::new(Teller::Rank(0), &told[0]);
        first.length("size of a file")
    })?;
    let end = end as i64;
    *file.position.lock() = end;
    super::agreement::once(file, || file.shared.store(end))
}

/// `MPI_File_close`: what this process wrote is on the device (MPI-5.0 §14.2.2), and the file is deleted if it was opened so.
pub fn close(id: FileId) -> Result<()> {
    let file = share(id)?;
    file.check_no_split()?;
    let synced = file.sync();
    // No process uses the file or the shared pointer any more.
    synchronize(&file.comm)?;
    remove(id)?;
    let freed = file.shared.free();
    let deleted = match file.mode.deletes_on_close() && file.comm.rank() == 0 {
        true => std::fs::remove_file(&file.path).map_err(|error| file.failed(&error)),
        false => Ok(()),
    };
    let outcome = settle(&file.comm, synced.and(freed).and(deleted));
    file.comm.release_numbers();
    outcome
}

/// `MPI_File_delete`.
pub fn delete(name: &CStr, info: Option<InfoId>) -> Result<()> {
    info.map_or(Ok(()), info::check)?;
    let path = path(name)?;
    std::fs::remove_file(path).map_err(|error| not_opened(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_file_systems_are_no_part_of_a_name() {
        for (name, rest) in [
            (c"ufs:/a/b", "/a/b"),
            (c"Lustre:b", "b"),
            (c"nfs:ufs:b", "ufs:b"),
            (c"./ufs:b", "./ufs:b"),
            (c"x:b", "x:b"),
            (c"run:12:00", "run:12:00"),
            (c":b", ":b"),
        ] {
            assert_eq!(path(name).unwrap(), Path::new(rest));
        }
        assert_eq!(path(c"ufs:").unwrap_err().class, Class::BadFile);
    }
}
