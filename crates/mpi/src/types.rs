//! Datatype handles (MPI-5.0 chapter 5). What a datatype means is in `weft_datatype`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_datatype::{Datatype, Predefined};
use weft_transport::Memory;

use crate::error::handler::argument;
use crate::error::{Class, Result};
use crate::process::process;

/// Names a datatype: predefined ones by their place in [`Predefined`], numbers below 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeId(pub u64);

impl TypeId {
    pub const fn predefined(datatype: Predefined) -> TypeId {
        TypeId(datatype as u64)
    }
}

/// A datatype that the program made.
pub struct UserType {
    pub datatype: Datatype,
    committed: AtomicBool,
}

const PREDEFINED_END: u64 = 4096;
/// No data are below it: null and the special addresses are.
const LOWEST_ADDRESS: usize = 4096;

/// The predefined datatype a handle names, if it names one.
#[inline]
pub fn as_predefined(id: TypeId) -> Option<Predefined> {
    if id.0 >= PREDEFINED_END {
        return None;
    }
    Predefined::ALL.get(id.0 as usize).copied()
}

/// The datatype that a handle names.
pub fn find(id: TypeId) -> Result<Datatype> {
    if let Some(predefined) = as_predefined(id) {
        return Ok(predefined.into());
    }
    let user = process().types.share(id.0).ok_or_else(not_a_type)?;
    Ok(user.datatype.clone())
}

#[cold]
fn not_a_type() -> crate::Error {
    argument(Class::Type, "datatype", "not a datatype, or a freed one")
}

#[cold]
fn not_committed() -> crate::Error {
    argument(Class::Type, "datatype", "not committed")
}

/// Bytes of one value of each predefined datatype; zero for those with holes.
static PLAIN_SIZES: [u8; Predefined::ALL.len()] = {
    let mut sizes = [0; Predefined::ALL.len()];
    let mut index = 0;
    while index < sizes.len() {
        let element = Predefined::ALL[index].element();
        if element.size() == element.extent() {
            sizes[index] = element.size() as u8;
        }
        index += 1;
    }
    sizes
};

/// Bytes of one element, if the handle names a predefined datatype without holes: the fast path's check.
#[inline]
fn plain_size(id: TypeId) -> Option<usize> {
    let size = *PLAIN_SIZES.get(usize::try_from(id.0).ok()?)?;
    (size != 0).then_some(usize::from(size))
}

/// Bytes of a buffer argument whose datatype is predefined and without holes, if nothing is wrong with it.
#[inline]
pub fn plain_bytes(buffer: *mut u8, count: i64, id: TypeId) -> Option<usize> {
    let size = plain_size(id)?;
    let bytes = usize::try_from(count).ok()?.checked_mul(size)?;
    (bytes == 0 || buffer.addr() >= LOWEST_ADDRESS).then_some(bytes)
}

/// The memory of a buffer argument: all checks of (buffer, count, datatype).
#[inline]
pub fn memory(buffer: *mut u8, count: i64, id: TypeId) -> Result<Memory> {
    match plain_bytes(buffer, count, id) {
        Some(bytes) => Ok(Memory::contiguous(buffer, bytes)),
        None => general_memory(buffer, count, id),
    }
}

fn general_memory(buffer: *mut u8, count: i64, id: TypeId) -> Result<Memory> {
    let count = usize::try_from(count)
        .map_err(|_| argument(Class::Count, "count", format_args!("{count} is negative")))?;
    let datatype = committed(id)?;
    let memory = datatype.memory(buffer, count)?;
    // MPI_BOTTOM is the null address, right only with datatypes of absolute displacements.
    let first = buffer
        .addr()
        .wrapping_add_signed(datatype.true_lower_bound());
    if memory.bytes > 0 && first < LOWEST_ADDRESS {
        return Err(argument(
            Class::Buffer,
            "buf",
            "no address (null, or MPI_IN_PLACE where it is not allowed) for a message that is not empty",
        ));
    }
    Ok(memory)
}

/// A committed datatype.
pub fn committed(id: TypeId) -> Result<Datatype> {
    if as_predefined(id).is_some() {
        return find(id);
    }
    let user = process().types.get(id.0).ok_or_else(not_a_type)?;
    match user.committed.load(Ordering::Acquire) {
        true => Ok(user.datatype.clone()),
        false => Err(not_committed()),
    }
}

/// A handle for a new datatype, not committed.
pub fn register(datatype: Datatype) -> Result<TypeId> {
    let user = UserType {
        datatype,
        committed: AtomicBool::new(false),
    };
    let id = process().types.insert(Arc::new(user)).map(TypeId);
    id.ok_or_else(|| argument(Class::NoMem, "newtype", "too many datatypes"))
}

/// `MPI_Type_commit`.
pub fn commit(id: TypeId) -> Result<()> {
    if as_predefined(id).is_none() {
        let user = process().types.get(id.0).ok_or_else(not_a_type)?;
        user.committed.store(true, Ordering::Release);
    }
    Ok(())
}

/// `MPI_Type_free`. Operations that use it go on.
pub fn free(id: TypeId) -> Result<()> {
    if as_predefined(id).is_some() {
        return Err(argument(
            Class::Type,
            "datatype",
            "a predefined datatype cannot be freed",
        ));
    }
    process()
        .types
        .remove(id.0)
        .map(drop)
        .ok_or_else(not_a_type)
}
