//! Data representations (MPI-5.0 §14.5): native, internal, which is native here, external32, and those that the program
//! registers.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

use parking_lot::Mutex;
use weft_datatype::{Datatype, Predefined};
use weft_error::{Class, Error, Result, argument};
use weft_memory::Memory;
use weft_objects::types::{Buffer, PrivateHandle, TypeId, committed};

/// The program's functions of a representation.
pub trait Functions: Send + Sync {
    /// Bytes of a basic datatype in the file.
    fn file_extent(&self, datatype: TypeId) -> Result<i64>;
    /// Whether data are converted when they are read; if not, they are in the file as in memory.
    fn converts_reads(&self) -> bool;
    fn converts_writes(&self) -> bool;
    /// From `file` to `user`: so many of a datatype, from the first on.
    fn read(&self, user: *mut u8, datatype: TypeId, count: i64, file: *mut u8) -> Result<()>;
    /// From `user` to `file`.
    fn write(&self, user: *mut u8, datatype: TypeId, count: i64, file: *mut u8) -> Result<()>;
}

/// How data are in a file.
#[derive(Clone)]
pub(super) enum Representation {
    Native,
    Internal,
    External32,
    User(CString, Arc<dyn Functions>),
}

/// Names stay (MPI-5.0 §14.5.3).
static REGISTERED: Mutex<BTreeMap<CString, Arc<dyn Functions>>> = Mutex::new(BTreeMap::new());

/// The longest name, without a terminating null: one less than `MPI_MAX_DATAREP_STRING`.
const NAME_BYTES: usize = 127;

/// `MPI_Register_datarep`.
pub fn register(name: &std::ffi::CStr, functions: Box<dyn Functions>) -> Result<()> {
    let bytes = name.count_bytes();
    if !(1..=NAME_BYTES).contains(&bytes) {
        let what = format_args!("{bytes} characters; from 1 to {NAME_BYTES} are a name");
        return Err(argument(Class::Arg, "datarep", what));
    }
    let mut registered = REGISTERED.lock();
    let is_predefined = [c"native", c"internal", c"external32"].contains(&name);
    if is_predefined || registered.contains_key(name) {
        let what = format_args!("{name:?} is there already");
        return Err(argument(Class::DupDatarep, "datarep", what));
    }
    registered.insert(name.to_owned(), functions.into());
    Ok(())
}

impl Representation {
    pub fn named(name: &std::ffi::CStr) -> Result<Representation> {
        match name.to_bytes() {
            b"native" => return Ok(Representation::Native),
            b"internal" => return Ok(Representation::Internal),
            b"external32" => return Ok(Representation::External32),
            _ => {}
        }
        let found = REGISTERED.lock().get(name).cloned();
        match found {
            Some(functions) => Ok(Representation::User(name.to_owned(), functions)),
            None => {
                let what = format_args!("{name:?} is not known");
                Err(argument(Class::UnsupportedDatarep, "datarep", what))
            }
        }
    }

    pub fn name(&self) -> CString {
        match self {
            Representation::Native => c"native".to_owned(),
            Representation::Internal => c"internal".to_owned(),
            Representation::External32 => c"external32".to_owned(),
            Representation::User(name, _) => name.clone(),
        }
    }

    /// Whether data are in the file as they are in memory.
    pub fn is_native(&self) -> bool {
        matches!(self, Representation::Native | Representation::Internal)
    }

    /// Whether functions of the program's convert, which only threads of the program's call.
    pub fn calls_program(&self) -> bool {
        matches!(self, Representation::User(..))
    }

    /// The datatype as it is in the file.
    pub fn in_file(&self, datatype: &Datatype) -> Result<Datatype> {
        match self {
            Representation::Native | Representation::Internal => Ok(datatype.clone()),
            Representation::External32 => datatype.with_sizes(&mut |basic: Predefined| {
                let size = Datatype::from(basic).external_size(1);
                size.ok_or_else(|| Error::from(weft_datatype::Overflow))
            }),
            Representation::User(_, functions) => {
                datatype.with_sizes(&mut |basic| extent(&**functions, basic))
            }
        }
    }

    /// How many bytes of the file `count` elements are.
    pub fn file_bytes(&self, datatype: &Datatype, count: usize) -> Result<usize> {
        let bytes = match self {
            Representation::Native | Representation::Internal => datatype.size().checked_mul(count),
            Representation::External32 => datatype.external_size(count),
            Representation::User(..) => self.in_file(datatype)?.size().checked_mul(count),
        };
        bytes.ok_or_else(|| weft_datatype::Overflow.into())
    }

    /// Data as they are in the file.
    pub fn encode(&self, data: &Typed) -> Result<Vec<u8>> {
        let (datatype, memory) = (&data.datatype, &data.memory);
        let mut out = weft_reserve::zeroed(self.file_bytes(datatype, data.count)?)?;
        // SAFETY: the caller's buffer; what is asked for is within its packed bytes.
        let read = |offset, part: &mut [u8]| unsafe { memory.read(offset, part) };
        match self {
            Representation::External32 => datatype.to_external(data.count, read, &mut out),
            Representation::User(_, functions) if functions.converts_writes() => {
                let (handle, count) = (data.handle(), data.count as i64);
                let id = handle.as_ref().map_or(data.id, PrivateHandle::id);
                functions.write(data.address(), id, count, out.as_mut_ptr())?;
            }
            _ => {
                check_as_native(out.len(), memory.bytes)?;
                // SAFETY: as above.
                unsafe { memory.read(0, &mut out) };
            }
        }
        Ok(out)
    }

    /// Stores data of the file in memory that has room for more, if they are fewer. Returns how many bytes of packed data they
    /// are there.
    pub fn decode(&self, file: &mut Vec<u8>, data: &Typed) -> Result<usize> {
        let (datatype, memory) = (&data.datatype, &data.memory);
        let there = file.len();
        match self {
            Representation::External32 => {
                let packed = datatype.packed_of_external(there);
                let one = datatype.external_size(1).unwrap_or(0);
                let count = if one == 0 { 0 } else { there.div_ceil(one) };
                weft_reserve::lengthen(file, count * one)?;
                datatype.from_external(count, file, |offset, part| {
                    let part = &part[..part.len().min(packed.saturating_sub(offset))];
                    // SAFETY: the caller's buffer, within its packed bytes.
                    unsafe { memory.write(offset.min(packed), part) };
                });
                Ok(packed)
            }
            Representation::User(_, functions) if functions.converts_reads() => {
                let one = self.file_bytes(datatype, 1)?;
                let count = there.checked_div(one).unwrap_or(0);
                let handle = data.handle();
                let id = handle.as_ref().map_or(data.id, PrivateHandle::id);
                if count > 0 {
                    functions.read(data.address(), id, count as i64, file.as_mut_ptr())?;
                }
                Ok(count * datatype.size())
            }
            _ => {
                check_as_native(self.file_bytes(datatype, data.count)?, memory.bytes)?;
                // SAFETY: as above; there are no more than were asked for.
                unsafe { memory.write(0, file) };
                Ok(there)
            }
        }
    }
}

/// A buffer argument, for longer than the handle of its datatype may live.
pub(super) struct Typed {
    /// Exposed: the program's functions are given it.
    address: usize,
    id: TypeId,
    pub count: usize,
    pub datatype: Datatype,
    pub memory: Memory,
}

impl Typed {
    pub fn new(buffer: &Buffer) -> Result<Typed> {
        let memory = buffer.memory()?;
        Ok(Typed {
            address: buffer.address.expose_provenance(),
            id: buffer.datatype,
            // The memory's conversion has looked at its sign.
            count: buffer.count as usize,
            datatype: committed(buffer.datatype)?,
            memory,
        })
    }

    fn address(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    /// A handle for the datatype if it is the program's, which may have freed its own.
    fn handle(&self) -> Option<PrivateHandle> {
        PrivateHandle::new(self.id, &self.datatype)
    }
}

/// Without a function for it, data are in the file as in memory, and so as many bytes.
fn check_as_native(file: usize, memory: usize) -> Result<()> {
    match file == memory {
        true => Ok(()),
        false => Err(Error::new(
            Class::Conversion,
            "MPI_CONVERSION_FN_NULL for data that have another length in the file",
        )),
    }
}

fn extent(functions: &dyn Functions, basic: Predefined) -> Result<usize> {
    let bytes = functions.file_extent(TypeId::predefined(basic))?;
    usize::try_from(bytes).map_err(|_| {
        let name = basic.name();
        let text = format!("the extent function returned {bytes} bytes for {name}");
        Error::new(Class::Conversion, text)
    })
}

/// The error of a function of the program's that returned `code`.
pub fn refused(function: &str, code: i32) -> Error {
    let text = format!("the {function} function of a data representation returned {code}");
    Error::new(Class::Conversion, text).with_code(code)
}
