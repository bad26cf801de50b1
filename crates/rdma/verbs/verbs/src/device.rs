//! The library and its devices.

use std::ffi::{CStr, CString, c_int};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use weft_kernel::above_standard;
use weft_verbs_abi::{Library, LoadError, ibv_device};

use crate::{Context, Error};

/// `libibverbs.so.1` as the loader finds it: the system's, or what `LD_LIBRARY_PATH` puts in its place. It is loaded once and
/// stays.
pub fn library() -> Result<&'static Library, LoadError> {
    static LIBRARY: OnceLock<Result<Library, LoadError>> = OnceLock::new();
    match LIBRARY.get_or_init(Library::load) {
        Ok(library) => Ok(library),
        Err(error) => Err(error.clone()),
    }
}

/// A library of that path. It stays loaded.
pub fn library_at(path: &Path) -> Result<&'static Library, LoadError> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| LoadError::NotLoaded(format!("{}: a zero in a path", path.display())))?;
    Ok(Box::leak(Box::new(Library::load_from(&name)?)))
}

/// The devices of a library, in its order.
pub fn devices(library: &'static Library) -> Result<Vec<Device>, Error> {
    let mut count: c_int = 0;
    // SAFETY: a writable count.
    let first = unsafe { (library.get_device_list)(&mut count) };
    if first.is_null() {
        return Err(Error::last("ibv_get_device_list", "this system"));
    }
    let list = Arc::new(List { library, first });
    let device = |index: c_int| Device {
        // SAFETY: the list has so many entries, and is kept.
        raw: unsafe { *first.add(index as usize) },
        list: list.clone(),
    };
    Ok((0..count).map(device).collect())
}

/// A list of devices: they live as long as it does.
struct List {
    library: &'static Library,
    first: *mut *mut ibv_device,
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: it came from the library, and no device of it is left.
        unsafe { (self.library.free_device_list)(self.first) };
    }
}

// SAFETY: the list and its devices are only read.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Sync for List {}

/// A device that can be opened.
#[derive(Clone)]
pub struct Device {
    raw: *mut ibv_device,
    list: Arc<List>,
}

// SAFETY: as of the list that it keeps.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    pub fn name(&self) -> String {
        // SAFETY: a device of a list that is kept; its name ends with a zero.
        let name = unsafe { CStr::from_ptr((self.list.library.get_device_name)(self.raw)) };
        name.to_string_lossy().into_owned()
    }

    /// Big endian, as the library gives it.
    pub fn guid(&self) -> u64 {
        // SAFETY: a device of a list that is kept.
        unsafe { (self.list.library.get_device_guid)(self.raw) }
    }

    pub fn library(&self) -> &'static Library {
        self.list.library
    }

    /// A context: of an mlx5 adapter, a slice of its hardware.
    pub fn open(&self) -> Result<Context, Error> {
        // SAFETY: a device of a list that is kept.
        let raw = above_standard(|| unsafe { (self.list.library.open_device)(self.raw) });
        if raw.is_null() {
            return Err(Error::last("ibv_open_device", self.name()));
        }
        // SAFETY: just opened by this library, and not given to anybody else.
        Ok(unsafe { Context::new(self.list.library, raw, self.name()) })
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Device").field(&self.name()).finish()
    }
}
