//! An open file: its descriptor, its communicator, what this process sees of it, its pointers.
//!
//! Every process has a descriptor of its own. Pointers and view are under locks that are held for the length of a look; no lock is
//! held while the file is read or written, but in atomic mode.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use weft_error::{Class, Error, Result, argument};
use weft_file::Descriptor;
use weft_handle::table::Table;
use weft_handle::{FileId, kind};
use weft_objects::comm::Comm;
use weft_objects::group::Group;
use weft_objects::handler::{self, Handler, HandlerCell};

use super::form::Split;
use super::hints::{Hints, Settings};
use super::mode::Mode;
use super::pointer::SharedPointer;
use super::seen::Seen;

pub struct File {
    pub(super) path: PathBuf,
    pub(super) descriptor: Descriptor,
    /// Of the file's own.
    pub(super) comm: Comm,
    pub(super) mode: Mode,
    pub(super) hints: Mutex<Hints>,
    pub(super) seen: RwLock<Arc<Seen>>,
    /// The individual file pointer, in etypes.
    pub(super) position: Mutex<i64>,
    pub(super) shared: SharedPointer,
    pub(super) split: Mutex<Option<Split>>,
    /// Whether accesses are atomic (MPI-5.0 §14.6.1).
    atomic: AtomicBool,
    /// Held during an atomic access: the locks of a file tell its threads not apart.
    pub(super) atomic_access: Mutex<()>,
    /// Whether this process may have written what is not on the device.
    written: AtomicBool,
    handler: HandlerCell,
}

/// What a file is opened with.
pub(super) struct Opened {
    pub path: PathBuf,
    pub descriptor: Descriptor,
    pub mode: Mode,
    pub hints: Hints,
    pub settings: Settings,
}

impl File {
    pub(super) fn new(opened: Opened, comm: Comm, shared: SharedPointer) -> File {
        let Opened {
            path,
            descriptor,
            mode,
            hints,
            settings,
        } = opened;
        let seen = Seen::initial(settings, hints.own_settings());
        File {
            path,
            descriptor,
            comm,
            mode,
            hints: Mutex::new(hints),
            seen: RwLock::new(Arc::new(seen)),
            position: Mutex::new(0),
            shared,
            split: Mutex::new(None),
            atomic: AtomicBool::new(false),
            atomic_access: Mutex::new(()),
            written: AtomicBool::new(false),
            // MPI-5.0 §14.7
            handler: HandlerCell::new(handler::of_files().load()),
        }
    }

    pub fn handler(&self) -> Handler {
        self.handler.load()
    }

    pub fn set_handler(&self, handler: Handler) {
        self.handler.store(handler);
    }

    /// The processes that have it open (`MPI_File_get_group`).
    pub fn group(&self) -> &Group {
        self.comm.group()
    }

    /// `MPI_File_get_amode`.
    pub fn amode(&self) -> i32 {
        self.mode.bits()
    }

    /// `MPI_File_get_atomicity`.
    pub fn is_atomic(&self) -> bool {
        self.atomic.load(Ordering::Relaxed)
    }

    pub(super) fn set_atomic(&self, atomic: bool) {
        self.atomic.store(atomic, Ordering::Relaxed);
    }

    pub(super) fn seen(&self) -> Arc<Seen> {
        self.seen.read().clone()
    }

    /// Something was or is to be written. Relaxed: the call that syncs comes after those that write, by the program's order.
    pub(super) fn mark_written(&self) {
        self.written.store(true, Ordering::Relaxed);
    }

    /// Whether something was written since the last time.
    pub(super) fn take_written(&self) -> bool {
        self.written.swap(false, Ordering::Relaxed)
    }

    /// An error while a split collective access is begun and not ended.
    pub(super) fn check_no_split(&self) -> Result<()> {
        let what = "a split collective access is begun and not ended";
        match *self.split.lock() {
            None => Ok(()),
            Some(_) => Err(argument(Class::Io, "fh", what)),
        }
    }

    pub(super) fn failed(&self, error: &std::io::Error) -> Error {
        super::errors::failed(&self.path, error)
    }
}

static FILES: Table<File> = Table::new(kind::FILE);

/// The live handle of a file at an index.
pub fn current(index: u32) -> Option<u64> {
    FILES.current(index)
}

/// A handle for a file just opened, by which errors of its requests find it too.
pub fn register(file: File) -> Result<FileId> {
    let file = Arc::new(file);
    let id = FILES.insert_agreed(file.clone()).map(FileId);
    let id = id.ok_or_else(|| argument(Class::NoMem, "fh", "too many files"))?;
    file.comm.bind_file(id);
    Ok(id)
}

/// Takes a file's handle away.
pub fn remove(id: FileId) -> Result<()> {
    FILES.remove(id.0).map(drop).ok_or_else(not_a_file)
}

/// The file that a handle names.
pub fn share(id: FileId) -> Result<Arc<File>> {
    FILES.share(id.0).ok_or_else(not_a_file)
}

#[cold]
fn not_a_file() -> Error {
    argument(Class::File, "fh", "not an open file, or a closed one")
}
