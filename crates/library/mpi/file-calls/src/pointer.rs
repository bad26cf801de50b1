//! The shared file pointer (MPI-5.0 §14.4.4): a number in the memory of the file's first process, which all of them reach by
//! one-sided updates. There is no file for it.

use parking_lot::Mutex;
use weft_datatype::{Op, Predefined};
use weft_error::Result;
use weft_handle::WindowId;
use weft_objects::comm::Comm;
use weft_objects::op::OpId;
use weft_objects::types::TypeId;
use weft_window as window;

/// The pointer, in etypes of the shared view.
pub(super) enum SharedPointer {
    /// Of a file that one process has open.
    Own(Mutex<i64>),
    Window(WindowId),
}

const ROOT: i32 = 0;

impl SharedPointer {
    /// Made by all processes of a communicator together; at 0.
    pub fn new(comm: &Comm) -> Result<SharedPointer> {
        if comm.size() == 1 {
            return Ok(SharedPointer::Own(Mutex::new(0)));
        }
        let bytes = match comm.rank() as i32 {
            ROOT => size_of::<i64>() as i64,
            _ => 0,
        };
        let id = window::allocate_private(comm, bytes)?;
        window::lock_all(id, true)?;
        Ok(SharedPointer::Window(id))
    }

    fn update(id: WindowId, op: Op, value: i64) -> Result<i64> {
        let mut before = 0i64;
        let buffers = (
            (&raw const value).cast::<u8>(),
            (&raw mut before).cast::<u8>(),
        );
        let datatype = TypeId::predefined(Predefined::Int64);
        window::fetch_and_op(id, buffers, datatype, (ROOT, 0), OpId::Predefined(op))?;
        window::flush(id, ROOT, window::Where::Target)?;
        Ok(before)
    }

    pub fn load(&self) -> Result<i64> {
        match self {
            SharedPointer::Own(position) => Ok(*position.lock()),
            SharedPointer::Window(id) => SharedPointer::update(*id, Op::NoOp, 0),
        }
    }

    /// Where it was before it went on by so many etypes.
    pub fn advance(&self, by: i64) -> Result<i64> {
        match self {
            SharedPointer::Own(position) => {
                let mut position = position.lock();
                let before = *position;
                *position = before.wrapping_add(by);
                Ok(before)
            }
            SharedPointer::Window(id) => SharedPointer::update(*id, Op::Sum, by),
        }
    }

    pub fn store(&self, to: i64) -> Result<()> {
        match self {
            SharedPointer::Own(position) => *position.lock() = to,
            SharedPointer::Window(id) => {
                SharedPointer::update(*id, Op::Replace, to)?;
            }
        }
        Ok(())
    }

    /// Gives it up, by all processes together.
    pub fn free(&self) -> Result<()> {
        match self {
            SharedPointer::Own(_) => Ok(()),
            SharedPointer::Window(id) => {
                window::unlock_all(*id)?;
                window::free(*id)
            }
        }
    }
}
