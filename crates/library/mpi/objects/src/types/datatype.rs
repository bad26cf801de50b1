//! The datatypes that handles name, and what hangs on them.

use std::ffi::{CStr, CString};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use weft_datatype::{Datatype, Predefined, Section};
use weft_error::{Class, Result, argument};
use weft_handle::kind;
use weft_handle::table::Table;
use weft_memory::Memory;

use super::annotation::Annotation;

/// Names a datatype: predefined ones by their place in [`Predefined`], numbers below 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeId(pub(crate) u64);

impl TypeId {
    /// The one of a handle, which need not be one.
    ///
    /// # Safety
    /// While a call works on it, no other thread frees the object that the handle names: where that is checked, the object
    /// is used without being kept alive. MPI has programs see to it (MPI-5.0 §2.5.1, §11.6.1).
    #[inline]
    pub const unsafe fn named(handle: u64) -> TypeId {
        TypeId(handle)
    }

    /// Its handle.
    #[inline]
    pub const fn handle(self) -> u64 {
        self.0
    }
}

impl TypeId {
    pub const fn predefined(datatype: Predefined) -> TypeId {
        TypeId(datatype as u64)
    }
}

/// A datatype that the program made.
pub struct UserType {
    datatype: Datatype,
    committed: AtomicBool,
    annotation: Annotation,
}

/// A datatype that a handle names, for as long as the handle lives.
pub enum Found {
    Predefined(Datatype),
    User(&'static UserType),
}

impl Found {
    fn is_committed(&self) -> bool {
        match self {
            Found::Predefined(_) => true,
            Found::User(user) => user.committed.load(Ordering::Acquire),
        }
    }
}

impl Deref for Found {
    type Target = Datatype;
    #[inline]
    fn deref(&self) -> &Datatype {
        match self {
            Found::Predefined(datatype) => datatype,
            Found::User(user) => &user.datatype,
        }
    }
}

static TYPES: Table<UserType> = Table::new(kind::DATATYPE);

/// The live handle of a datatype at an index.
pub fn current(index: u32) -> Option<u64> {
    TYPES.current(index)
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

/// The datatype that a handle names, without a lock.
#[inline]
pub fn find(id: TypeId) -> Result<Found> {
    match as_predefined(id) {
        Some(predefined) => Ok(Found::Predefined(predefined.into())),
        None => user(id).map(Found::User),
    }
}

#[inline]
fn user(id: TypeId) -> Result<&'static UserType> {
    // SAFETY: the maker of the identifier has promised it (`TypeId::named`).
    unsafe { TYPES.lend(id.0) }.ok_or_else(not_a_type)
}

/// Keeps the program's datatype that a handle names, if it is one, for a call in which a function of the program's might
/// free it.
pub fn keep(id: TypeId) -> Option<impl Sized> {
    TYPES.share(id.0)
}

#[cold]
fn not_a_type() -> weft_error::Error {
    argument(Class::Type, "datatype", "not a datatype, or a freed one")
}

#[cold]
fn not_committed() -> weft_error::Error {
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

/// Whether the handle names a predefined datatype without holes.
#[inline]
pub fn is_plain(id: TypeId) -> bool {
    plain_size(id).is_some()
}

/// Bytes of a buffer argument whose datatype is predefined and without holes, if nothing is wrong with it.
#[inline]
pub fn plain_bytes(buffer: *mut u8, count: i64, id: TypeId) -> Option<usize> {
    let size = plain_size(id)?;
    let bytes = usize::try_from(count).ok()?.checked_mul(size)?;
    if !is_address(buffer) && bytes != 0 {
        std::hint::cold_path();
        return None;
    }
    Some(bytes)
}

/// Whether data can be there.
#[inline]
pub fn is_address(buffer: *const u8) -> bool {
    buffer.addr() >= LOWEST_ADDRESS
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
    match find(id)? {
        Found::Predefined(datatype) => Ok(datatype),
        Found::User(user) if user.committed.load(Ordering::Acquire) => Ok(user.datatype.clone()),
        Found::User(_) => Err(not_committed()),
    }
}

/// As [`committed`], for as long as the handle lives.
#[inline]
pub fn find_committed(id: TypeId) -> Result<Found> {
    match find(id)? {
        Found::User(user) if !user.committed.load(Ordering::Acquire) => Err(not_committed()),
        found => Ok(found),
    }
}

/// The predefined datatype, named or not, that a handle names, if it names one.
pub fn plain(id: TypeId) -> Option<Predefined> {
    as_predefined(id).or_else(|| user(id).ok()?.datatype.predefined())
}

/// By place in [`Predefined::ALL`].
static PREDEFINED: LazyLock<Vec<Annotation>> = LazyLock::new(|| {
    let annotations = Predefined::ALL.iter().map(|_| Annotation::default());
    annotations.collect()
});

/// What hangs on a datatype.
pub fn annotation(id: TypeId) -> Result<&'static Annotation> {
    match as_predefined(id) {
        Some(predefined) => Ok(&PREDEFINED[predefined as usize]),
        None => user(id).map(|user| &user.annotation),
    }
}

/// `MPI_Type_get_name`: a predefined datatype's is its name in C until another is set, any other's is empty.
pub fn name(id: TypeId) -> Result<CString> {
    if let Some(name) = annotation(id)?.name() {
        return Ok(name);
    }
    let name = as_predefined(id).map_or("", Predefined::name);
    Ok(CString::new(name).expect("names of datatypes hold no null"))
}

/// `MPI_Type_set_name`.
pub fn set_name(id: TypeId, name: &CStr) -> Result<()> {
    annotation(id)?.set_name(name);
    Ok(())
}

/// A handle for a new datatype, not committed.
pub fn register(datatype: Datatype) -> Result<TypeId> {
    register_annotated(datatype, false, Annotation::default())
}

pub(super) fn register_annotated(
    datatype: Datatype,
    committed: bool,
    annotation: Annotation,
) -> Result<TypeId> {
    let user = UserType {
        datatype,
        committed: AtomicBool::new(committed),
        annotation,
    };
    let id = TYPES.insert(Arc::new(user)).map(TypeId);
    id.ok_or_else(|| argument(Class::NoMem, "newtype", "too many datatypes"))
}

/// A handle of the library's own for a datatype of the program's.
pub struct PrivateHandle(TypeId);

impl PrivateHandle {
    /// None for a predefined datatype, whose handle stays, or if there are too many.
    pub fn new(id: TypeId, datatype: &Datatype) -> Option<PrivateHandle> {
        if as_predefined(id).is_some() {
            return None;
        }
        let id = register_annotated(datatype.clone(), true, Annotation::default());
        id.ok().map(PrivateHandle)
    }

    pub fn id(&self) -> TypeId {
        self.0
    }
}

impl Drop for PrivateHandle {
    fn drop(&mut self) {
        TYPES.remove(self.0.0);
    }
}

/// `MPI_Type_dup`: committed if the old one is, and with the attributes whose copy functions say so
/// (MPI-5.0 §5.1.10, §7.7.4).
pub fn dup(id: TypeId) -> Result<TypeId> {
    let old = find(id)?;
    let datatype = Datatype::dup(&old)?;
    register_annotated(datatype, old.is_committed(), annotation(id)?.copied(id.0)?)
}

/// A handle for a datatype in a buffer that is an array section of Fortran's ([`Datatype::in_section`]), committed if the
/// datatype is.
pub fn in_section(id: TypeId, section: Section) -> Result<TypeId> {
    let old = find(id)?;
    let (datatype, committed) = (old.in_section(section), old.is_committed());
    register_annotated(datatype, committed, Annotation::default())
}

/// `MPI_Type_commit`.
pub fn commit(id: TypeId) -> Result<()> {
    if let Found::User(user) = find(id)? {
        user.committed.store(true, Ordering::Release);
    }
    Ok(())
}

/// `MPI_Type_free`. Operations that use it go on, and so do datatypes built on it. It stays if a delete function of
/// its attributes fails.
pub fn free(id: TypeId) -> Result<()> {
    if find(id)?.predefined().is_some() {
        return Err(argument(
            Class::Type,
            "datatype",
            "a predefined datatype cannot be freed",
        ));
    }
    let _kept = keep(id);
    annotation(id)?.attributes.delete_all(id.0)?;
    TYPES.remove(id.0).map(drop).ok_or_else(not_a_type)
}
