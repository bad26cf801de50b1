//! Windows: memory that the processes of a group let each other access (MPI-5.0 chapter 12).
//!
//! The memory, its locks and the atomic updates are `weft_rma`'s; here are handles, arguments, hints and epochs. Every
//! access has moved its data when its call returns. So what ends an epoch has only to order memory and to tell the other
//! processes: fence is a barrier, post and complete are empty messages, on a communicator of the window's own, and a lock is
//! let go.

mod accumulate;
mod active;
mod attribute;
mod create;
mod epoch;
mod hints;
mod near;
mod passive;
mod transfer;

use std::ffi::{CStr, CString};
use std::sync::Arc;

use parking_lot::Mutex;
use weft_rma::Fault;

use crate::attributes::{Attributes, Holder};
use crate::comm::Comm;
use crate::error::handler::{HandlerCell, argument};
use crate::error::{Class, Error, Handler, Result};
use crate::group::Group;
use crate::process::process;
use epoch::Epochs;
use hints::Hints;

pub use accumulate::{accumulate, compare_and_swap, fetch_and_op, get_accumulate};
pub use active::{complete, fence, post, start, test, wait};
pub use attribute::{Attribute, value};
pub use create::{
    SharedPart, allocate, allocate_shared, attach, create, create_dynamic, detach, shared_query,
};
pub use hints::{info, set_info};
pub use passive::{Locking, flush, flush_all, lock, lock_all, sync, unlock, unlock_all};
pub use transfer::{Epoch, TargetBuffer, get, put};

/// Names a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowId(pub(crate) u64);

impl WindowId {
    /// The one of a handle, which need not be one.
    ///
    /// # Safety
    /// While a call works on it, no other thread frees the object that the handle names: where that is checked, the object
    /// is used without being kept alive. MPI has programs see to it (MPI-5.0 §2.5.1, §11.6.1).
    #[inline]
    pub const unsafe fn named(handle: u64) -> WindowId {
        WindowId(handle)
    }

    /// Its handle.
    #[inline]
    pub const fn handle(self) -> u64 {
        self.0
    }
}

/// How a window was made (`MPI_WIN_CREATE_FLAVOR`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    Create,
    Allocate,
    Dynamic,
    Shared,
}

/// Assertions of a synchronisation call (MPI-5.0 §12.5.5), of which most need no notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assertions {
    /// The matching call was made before, or no process holds a conflicting lock.
    pub no_check: bool,
    /// No access before the fence.
    pub no_precede: bool,
    /// No access after the fence.
    pub no_succeed: bool,
}

pub struct Window {
    rma: weft_rma::Window,
    /// Of the window's own, for its synchronisation.
    comm: Comm,
    flavor: Flavor,
    figures: attribute::Figures,
    hints: Mutex<Hints>,
    epochs: Epochs,
    handler: HandlerCell,
    name: Mutex<CString>,
    pub attributes: Attributes,
}

impl Window {
    fn new(
        rma: weft_rma::Window,
        comm: Comm,
        flavor: Flavor,
        figures: attribute::Figures,
        hints: Hints,
    ) -> Window {
        Window {
            epochs: Epochs::new(comm.size()),
            rma,
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

    fn check_rank(&self, name: &str, rank: i32) -> Result<u32> {
        self.comm.check_rank(Class::Rank, name, rank)
    }
}

/// The window that a handle names.
#[inline(always)]
pub fn find(id: WindowId) -> Result<&'static Window> {
    // SAFETY: the maker of the identifier has promised it (`WindowId::named`).
    unsafe { process().windows.lend(id.0) }.ok_or_else(not_a_window)
}

/// As [`find`], kept alive for a call that takes long.
pub fn share(id: WindowId) -> Result<Arc<Window>> {
    process().windows.share(id.0).ok_or_else(not_a_window)
}

#[cold]
fn not_a_window() -> Error {
    argument(Class::Win, "win", "not a window, or a freed one")
}

/// `MPI_Win_free`: collective, and not before all have come. It stays if a delete function of its attributes fails.
pub fn free(id: WindowId) -> Result<()> {
    let window = share(id)?;
    window.epochs.check_closed()?;
    window.attributes.delete_all(id.0)?;
    crate::collective::synchronize(&window.comm)?;
    process().windows.remove(id.0).ok_or_else(not_a_window)?;
    window.close();
    Ok(())
}

/// The error of an access that did not reach its memory.
#[cold]
fn unreached(fault: Fault) -> Error {
    match fault {
        Fault::Range => argument(
            Class::RmaRange,
            "target_disp",
            "not all of the target data are in the target's part of the window",
        ),
        Fault::Lost(lost) => Error::new(Class::ProcAborted, lost.to_string()),
    }
}

/// The error of a call that does not fit the epochs that are open (MPI-5.0 §12.5).
#[cold]
fn out_of_order(what: &'static str) -> Error {
    argument(Class::RmaSync, "win", what)
}
