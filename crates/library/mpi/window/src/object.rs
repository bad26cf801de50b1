//! A window: its memory, its communicator, its epochs, its hints.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use parking_lot::Mutex;
use weft_error::{Class, Error, Result, argument};
use weft_handle::table::Table;
use weft_handle::{WindowId, kind};
use weft_objects::attributes::{Attributes, Holder};
use weft_objects::comm::Comm;
use weft_objects::group::Group;
use weft_objects::handler::{Handler, HandlerCell};
use weft_transport::Allocation;

use super::epoch::Epochs;
use super::far::Far;
use super::figures::{Figures, Flavor};
use super::hints::Hints;

pub struct Window {
    /// The processes on all hosts, if they are on several; then `rma` is among those of this host alone. Goes before it, whose memory it exposes.
    pub(super) far: Option<Box<Far>>,
    pub(super) rma: weft_rma::Window,
    /// This process's part, where the network has allocated it. Goes behind what it is exposed by.
    _allocation: Option<Allocation>,
    /// Of the window's own, for its synchronisation.
    pub(super) comm: Comm,
    pub(super) flavor: Flavor,
    pub(super) figures: Figures,
    pub(super) hints: Mutex<Hints>,
    pub(super) epochs: Epochs,
    handler: HandlerCell,
    name: Mutex<CString>,
    pub attributes: Attributes,
}

/// The parts of a window.
pub(super) struct Parts {
    /// On this host.
    pub rma: weft_rma::Window,
    /// On all, if it spans several.
    pub far: Option<Box<Far>>,
    /// This process's, where the network has allocated it.
    pub allocation: Option<Allocation>,
}

impl Window {
    pub(super) fn new(
        parts: Parts,
        comm: Comm,
        flavor: Flavor,
        figures: Figures,
        hints: Hints,
    ) -> Window {
        Window {
            epochs: Epochs::new(comm.size()),
            rma: parts.rma,
            far: parts.far,
            _allocation: parts.allocation,
            comm,
            flavor,
            figures,
            hints: Mutex::new(hints),
            // MPI-5.0 §9.3.2
            handler: HandlerCell::new(Handler::Fatal),
            name: Mutex::default(),
            attributes: Attributes::new(Holder::Window),
        }
    }

    pub fn handler(&self) -> Handler {
        self.handler.load()
    }

    pub fn set_handler(&self, handler: Handler) {
        self.handler.store(handler);
    }

    /// Empty until one is set (MPI-5.0 §7.8).
    pub fn name(&self) -> CString {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &CStr) {
        name.clone_into(&mut self.name.lock());
    }

    /// The processes (`MPI_Win_get_group`).
    pub fn group(&self) -> &Group {
        self.comm.group()
    }

    /// Where the process of a rank has its part.
    #[inline]
    pub(super) fn locality(&self, rank: u32) -> Locality<'_> {
        match &self.far {
            None => Locality::Near(rank),
            Some(far) => match far.part(rank).number {
                Some(number) => Locality::Near(number),
                None => Locality::Far(far),
            },
        }
    }

    pub(super) fn check_rank(&self, name: &str, rank: i32) -> Result<u32> {
        self.comm.check_rank(Class::Rank, name, rank)
    }
}

/// Where a part of a window is.
#[derive(Clone, Copy)]
pub(super) enum Locality<'a> {
    /// On this host, whose processes have numbers in the window.
    Near(u32),
    Far(&'a Far),
}

static WINDOWS: Table<Window> = Table::new(kind::WINDOW);

/// The live handle of a window at an index.
pub fn current(index: u32) -> Option<u64> {
    WINDOWS.current(index)
}

/// A handle for a new window, if there is room for one.
pub fn register(window: Window) -> Option<WindowId> {
    let handle = WINDOWS.insert_agreed(Arc::new(window))?;
    // SAFETY: it is new. Nobody but the program, which has promised not to free it in other calls, gets to know it.
    Some(unsafe { WindowId::named(handle) })
}

/// Takes a window's handle away.
pub fn remove(id: WindowId) -> Result<()> {
    WINDOWS
        .remove(id.handle())
        .map(drop)
        .ok_or_else(not_a_window)
}

/// The window that a handle names.
#[inline(always)]
pub fn find(id: WindowId) -> Result<&'static Window> {
    // SAFETY: the maker of the identifier has promised it (`WindowId::named`).
    unsafe { WINDOWS.lend(id.handle()) }.ok_or_else(not_a_window)
}

/// As [`find`], kept alive for a call that takes long.
pub fn share(id: WindowId) -> Result<Arc<Window>> {
    WINDOWS.share(id.handle()).ok_or_else(not_a_window)
}

#[cold]
fn not_a_window() -> Error {
    argument(Class::Win, "win", "not a window, or a freed one")
}
