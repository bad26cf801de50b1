//! Info objects: ordered pairs of strings (MPI-5.0 chapter 10). They live from before `MPI_Init` on.

use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use weft_error::{Class, Error, Result, argument};
use weft_handle::table::Table;
use weft_handle::{InfoId, kind};
use weft_process::job::job;
use weft_process::phase::{Phase, phase};

/// The longest key and value, without a terminating null: one less than `MPI_MAX_INFO_KEY` and `MPI_MAX_INFO_VAL`.
pub const KEY_BYTES: usize = 255;
pub const VALUE_BYTES: usize = 1023;

pub(crate) type Pairs = Vec<(CString, CString)>;

/// An info object's pairs, in the order in which their keys were first set.
#[derive(Debug, Default)]
struct Info(Mutex<Pairs>);

static INFOS: Table<Info> = Table::new(kind::INFO);

/// Runs `look` on an object's pairs.
fn read<T>(id: InfoId, look: impl FnOnce(&Pairs) -> T) -> Result<T> {
    if id == InfoId::ENV {
        return Ok(look(&environment(&own_arguments())));
    }
    let info = INFOS.share(id.0).ok_or_else(not_an_info)?;
    let pairs = info.0.lock();
    Ok(look(&pairs))
}

fn change<T>(id: InfoId, change: impl FnOnce(&mut Pairs) -> T) -> Result<T> {
    if id == InfoId::ENV {
        return Err(argument(Class::Info, "info", "MPI_INFO_ENV is read only"));
    }
    let info = INFOS.share(id.0).ok_or_else(not_an_info)?;
    let mut pairs = info.0.lock();
    Ok(change(&mut pairs))
}

#[cold]
fn not_an_info() -> Error {
    argument(Class::Info, "info", "not an info object, or a freed one")
}

fn register(pairs: Pairs) -> Result<InfoId> {
    let id = INFOS.insert(Arc::new(Info(Mutex::new(pairs))));
    id.map(InfoId)
        .ok_or_else(|| argument(Class::NoMem, "info", "too many info objects"))
}

/// The live handle of an info object at an index.
pub fn current(index: u32) -> Option<u64> {
    INFOS.current(index)
}

fn check_key(key: &CStr) -> Result<()> {
    let bytes = key.count_bytes();
    if (1..=KEY_BYTES).contains(&bytes) {
        return Ok(());
    }
    let what = format_args!("{bytes} characters; from 1 to {KEY_BYTES} are a key");
    Err(argument(Class::InfoKey, "key", what))
}

fn find<'a>(pairs: &'a Pairs, key: &CStr) -> Option<&'a CString> {
    let pair = pairs.iter().find(|(known, _)| **known == *key)?;
    Some(&pair.1)
}

/// `MPI_Info_create`.
pub fn create() -> Result<InfoId> {
    register(Pairs::new())
}

/// A new object with these pairs, whose keys and values are of lengths that the standard allows.
pub fn create_with(pairs: &[(&CStr, &str)]) -> Result<InfoId> {
    let owned = |(key, text): &(&CStr, &str)| ((*key).to_owned(), c_string(text.as_bytes()));
    register(pairs.iter().map(owned).collect())
}

/// All pairs of an object.
pub fn pairs(id: InfoId) -> Result<Pairs> {
    read(id, Pairs::clone)
}

/// `MPI_Info_dup`: the same pairs in the same order.
pub fn dup(id: InfoId) -> Result<InfoId> {
    register(pairs(id)?)
}

/// `MPI_Info_free`.
pub fn free(id: InfoId) -> Result<()> {
    if id == InfoId::ENV {
        let what = "MPI_INFO_ENV cannot be freed";
        return Err(argument(Class::Info, "info", what));
    }
    INFOS.remove(id.0).map(drop).ok_or_else(not_an_info)
}

/// Whether there is such an object.
pub fn check(id: InfoId) -> Result<()> {
    read(id, |_| ())
}

/// `MPI_Info_set`.
pub fn set(id: InfoId, key: &CStr, value: &CStr) -> Result<()> {
    check_key(key)?;
    weft_reserve::check()?;
    let bytes = value.count_bytes();
    if bytes > VALUE_BYTES {
        let what = format_args!("{bytes} characters; at most {VALUE_BYTES} are a value");
        return Err(argument(Class::InfoValue, "value", what));
    }
    change(id, |pairs| {
        match pairs.iter_mut().find(|(known, _)| **known == *key) {
            Some(pair) => pair.1 = value.to_owned(),
            None => pairs.push((key.to_owned(), value.to_owned())),
        }
    })
}

/// `MPI_Info_delete`.
pub fn delete(id: InfoId, key: &CStr) -> Result<()> {
    check_key(key)?;
    let found = change(id, |pairs| {
        let place = pairs.iter().position(|(known, _)| **known == *key)?;
        Some(pairs.remove(place))
    })?;
    found.map(drop).ok_or_else(|| {
        let what = format_args!("{} is not set", key.to_string_lossy());
        argument(Class::InfoNoKey, "key", what)
    })
}

/// The value of a key, if it is set: `MPI_Info_get_string` and its deprecated forms.
pub fn value(id: InfoId, key: &CStr) -> Result<Option<CString>> {
    check_key(key)?;
    read(id, |pairs| find(pairs, key).cloned())
}

/// `MPI_Info_get_nkeys`.
pub fn key_count(id: InfoId) -> Result<usize> {
    read(id, Vec::len)
}

/// `MPI_Info_get_nthkey`.
pub fn nth_key(id: InfoId, n: i32) -> Result<CString> {
    read(id, |pairs| {
        let pair = usize::try_from(n).ok().and_then(|n| pairs.get(n));
        let key = pair.map(|(key, _)| key.clone());
        key.ok_or_else(|| {
            let what = format_args!("{n} is not below the number of keys, {}", pairs.len());
            argument(Class::Arg, "n", what)
        })
    })?
}

/// `MPI_Info_create_env`: what `MPI_INFO_ENV` holds, for the program's arguments or, if there are none, those of the
/// process.
pub fn create_env(arguments: &[&CStr]) -> Result<InfoId> {
    if arguments.is_empty() {
        return register(environment(&own_arguments()));
    }
    let owned: Vec<CString> = arguments.iter().map(|&text| text.to_owned()).collect();
    register(environment(&owned))
}

fn own_arguments() -> Vec<CString> {
    std::env::args_os()
        .map(|text| c_string(text.as_encoded_bytes()))
        .collect()
}

fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes).expect("what comes from the system ends at its first null")
}

/// The keys of MPI-5.0 §11.2.1 whose values are known and not too long for one.
fn environment(arguments: &[CString]) -> Pairs {
    let mut pairs = Pairs::new();
    let mut add = |key: &CStr, value: &[u8]| {
        if value.len() <= VALUE_BYTES {
            pairs.push((key.to_owned(), c_string(value)));
        }
    };
    if let [command, rest @ ..] = arguments {
        add(c"command", command.as_bytes());
        let rest: Vec<&[u8]> = rest.iter().map(|text| text.as_bytes()).collect();
        add(c"argv", &rest.join(&b' '));
    }
    let options = weft_bootstrap::program_options();
    if options.is_empty() {
        // Another launcher tells the size of the job alone. Also before the job is joined, so that an object holds the same whenever it is
        // made.
        let size = match phase() {
            Phase::Before => weft_bootstrap::announced_size(),
            _ => Some(job().size),
        };
        if let Some(size) = size {
            add(c"maxprocs", size.to_string().as_bytes());
        }
    }
    for (key, value) in options {
        add(&c_string(key.as_bytes()), &value);
    }
    add(c"arch", std::env::consts::ARCH.as_bytes());
    if let Ok(folder) = std::env::current_dir() {
        add(c"wdir", folder.as_os_str().as_encoded_bytes());
    }
    pairs
}

#[cfg(test)]
mod tests;
