//! Active target synchronisation: fence, and post, start, complete, wait (MPI-5.0 §12.5.1, §12.5.2).

use std::sync::atomic;

use weft_collective_calls::synchronize;
use weft_communicators::create::ranks_in;
use weft_error::Result;
use weft_handle::{GroupId, WindowId};
use weft_memory::Memory;
use weft_messages::completion;
use weft_messages::request::Request;
use weft_messages::start::{start_receive, start_send};
use weft_objects::comm::Traffic;

use super::epoch::{Access, Exposure};
use super::far::Where;
use super::object::{Window, share};

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

/// An exposure epoch has begun at the sender.
const POSTED: u32 = 0;
/// The sender accesses no more.
const COMPLETED: u32 = 1;

const EMPTY: Memory = Memory::contiguous(std::ptr::null_mut(), 0);

/// What this process has stored in other memory comes before all that it does from here on, and what it loads from
/// here on is loaded after. The only standalone fence: the loads and stores are the program's own, or copies into its memory, and
/// no atomic of the library's stands in their place.
pub fn order_memory() {
    atomic::fence(atomic::Ordering::SeqCst);
}

impl Window {
    fn send(&self, to: u32, tag: u32) -> Result<Request> {
        start_send(&self.comm, Traffic::PointToPoint, EMPTY, to, tag)
    }

    fn receive(&self, from: u32, tag: u32) -> Result<Request> {
        let (from, tag) = (from as i32, tag as i32);
        start_receive(&self.comm, Traffic::PointToPoint, EMPTY, from, tag)
    }

    fn ranks(&self, group: GroupId) -> Result<Vec<u32>> {
        ranks_in(&self.comm, &*weft_objects::group::find(group)?)
    }
}

/// Waits for all of them, whatever becomes of each; the first error is the outcome.
fn wait_all(requests: &mut [Request]) -> Result<()> {
    let outcomes = requests
        .iter_mut()
        .map(|request| completion::wait(request)?.check());
    outcomes.fold(Ok(()), Result::and)
}

/// `MPI_Win_fence`. With both assertions that nothing is accessed around it, it synchronises nothing.
pub fn fence(id: WindowId, assertions: Assertions) -> Result<()> {
    let window = share(id)?;
    window.epochs.fence(!assertions.no_succeed)?;
    order_memory();
    if let Some(far) = &window.far {
        far.flush_all(&window.comm, Where::Target)?;
    }
    if !(assertions.no_precede && assertions.no_succeed) {
        synchronize(&window.comm)?;
    }
    order_memory();
    Ok(())
}

/// `MPI_Win_post`.
pub fn post(id: WindowId, group: GroupId, assertions: Assertions) -> Result<()> {
    let window = share(id)?;
    window.epochs.check_post()?;
    let origins = window.ranks(group)?;
    order_memory();
    let mut requests = Vec::with_capacity(2 * origins.len());
    for &origin in &origins {
        requests.push(window.receive(origin, COMPLETED)?);
    }
    if !assertions.no_check {
        for &origin in &origins {
            requests.push(window.send(origin, POSTED)?);
        }
    }
    window.epochs.open_exposure(Exposure { requests });
    Ok(())
}

/// `MPI_Win_start`: returns once all targets have posted.
pub fn start(id: WindowId, group: GroupId, assertions: Assertions) -> Result<()> {
    let window = share(id)?;
    window.epochs.check_start()?;
    let targets = window.ranks(group)?;
    if !assertions.no_check {
        let posted = targets.iter().map(|&target| window.receive(target, POSTED));
        wait_all(&mut posted.collect::<Result<Vec<_>>>()?)?;
    }
    order_memory();
    window.epochs.open_access(Access { targets });
    Ok(())
}

/// `MPI_Win_complete`.
pub fn complete(id: WindowId) -> Result<()> {
    let window = share(id)?;
    let access = window.epochs.close_access()?;
    order_memory();
    let flushed = match &window.far {
        None => Ok(()),
        Some(far) => far.flush_some(&window.comm, &access.targets),
    };
    let told = access
        .targets
        .iter()
        .map(|&target| window.send(target, COMPLETED));
    wait_all(&mut told.collect::<Result<Vec<_>>>()?)?;
    flushed
}

/// `MPI_Win_wait`.
pub fn wait(id: WindowId) -> Result<()> {
    let window = share(id)?;
    let mut exposure = window.epochs.take_exposure()?;
    wait_all(&mut exposure.requests)?;
    order_memory();
    Ok(())
}

/// `MPI_Win_test`: whether the exposure epoch is over, which it then is.
pub fn test(id: WindowId) -> Result<bool> {
    let window = share(id)?;
    let mut exposure = window.epochs.take_exposure()?;
    let mut failed = Ok(());
    let over = completion::test_all(&mut exposure.requests, |_, status| {
        failed = std::mem::replace(&mut failed, Ok(())).and(status.check());
    });
    match over {
        Ok(false) => {
            window.epochs.open_exposure(exposure);
            Ok(false)
        }
        over => {
            failed?;
            order_memory();
            over
        }
    }
}
