//! The prices by which the processes of a job choose algorithms: those of its first process, which looks for a file
//! (`weft_prices`) and announces it. So all choose alike, whatever files their hosts and users have.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use weft_error::{Class, Error, Result};
use weft_prices::{BUILT_IN, Found, announced, announcement, find};
use weft_transport::Peer;

/// Where they come from, once that is agreed.
static SOURCE: OnceLock<String> = OnceLock::new();

/// The file that process `rank` announces, if it is the first of its job and has one. A file that it cannot use it
/// tells on standard error.
pub fn to_announce(rank: Peer) -> Option<String> {
    if rank != 0 {
        return None;
    }
    match find(prefix().as_deref()) {
        Found::BuiltIn => None,
        Found::File(path, file) => Some(announcement(&path, &file)),
        Found::Refused(why) => {
            eprintln!("weft: rank {rank}: {why}; the built-in prices are used");
            None
        }
    }
}

/// From here on this process chooses by what the first has announced.
pub fn begin(announcement: Option<&str>) -> Result<()> {
    let source = match announcement {
        None => BUILT_IN.to_owned(),
        Some(text) => {
            let (name, file) = announced(text).map_err(|why| {
                Error::new(
                    Class::Other,
                    format!("the prices that rank 0 announces: {why}"),
                )
            })?;
            weft_collective::set_prices(file.lists());
            name
        }
    };
    let set = SOURCE.set(source);
    assert!(set.is_ok(), "a process starts once");
    Ok(())
}

/// The name of the first process's file, or [`BUILT_IN`]; before that is agreed, of what this process would find.
pub fn source() -> String {
    SOURCE
        .get()
        .cloned()
        .unwrap_or_else(|| match find(prefix().as_deref()) {
            Found::File(path, _) => path.to_string_lossy().into_owned(),
            Found::BuiltIn | Found::Refused(_) => BUILT_IN.to_owned(),
        })
}

/// The folder above that of this library, or of the program that holds it.
fn prefix() -> Option<PathBuf> {
    // SAFETY: a structure of numbers and addresses, of which zero is one.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address of this library's, and a structure to fill.
    let is_found = unsafe { libc::dladdr((&raw const SOURCE).cast(), &mut found) } != 0;
    if !is_found || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of this library, which stays while that is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    let path = path.canonicalize().ok()?;
    Some(path.parent()?.parent()?.to_owned())
}
