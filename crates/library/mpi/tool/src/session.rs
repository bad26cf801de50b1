//! Sessions of performance variables and their handles (MPI-5.0 §15.3.7). A handle sees what was counted while it was
//! running: the counts themselves never stop and are never changed.

use weft_error::Result;

use super::codes::{Code, error, indexed};
use super::counting::{Bound, Handles};
use super::state::{Tools, tools};
use super::variables::{ALL, Reading, Variable, reading};

/// Names a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session(pub u64);

/// Names a handle of a session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u64);

impl Handle {
    /// `MPI_T_PVAR_ALL_HANDLES`: the ABI's number.
    pub const ALL: Handle = Handle(1);
}

fn handles(tools: &mut Tools, session: Session) -> Result<&mut Handles> {
    let handles = tools.sessions.get_mut(&session.0);
    handles.ok_or_else(|| error(Code::InvalidSession))
}

/// `MPI_T_pvar_session_create`.
pub fn create() -> Result<Session> {
    let mut tools = tools()?;
    let number = tools.number();
    tools.sessions.insert(number, Handles::new());
    Ok(Session(number))
}

/// `MPI_T_pvar_session_free`: with all its handles.
pub fn free(session: Session) -> Result<()> {
    match tools()?.sessions.remove(&session.0) {
        Some(_) => Ok(()),
        None => Err(error(Code::InvalidSession)),
    }
}

/// `MPI_T_pvar_handle_alloc`.
pub fn allocate(session: Session, index: i32) -> Result<Handle> {
    let mut tools = tools()?;
    handles(&mut tools, session)?;
    indexed(&ALL, index)?;
    let number = tools.number();
    let bound = Bound {
        index: index as usize,
        total: 0,
        since: None,
    };
    handles(&mut tools, session)?.insert(number, bound);
    Ok(Handle(number))
}

/// `MPI_T_pvar_handle_free`.
pub fn free_handle(session: Session, handle: Handle) -> Result<()> {
    match handles(&mut *tools()?, session)?.remove(&handle.0) {
        Some(_) => Ok(()),
        None => Err(error(Code::InvalidHandle)),
    }
}

/// What a handle reads as: its variable and value.
pub fn read(session: Session, handle: Handle) -> Result<(&'static Variable, u64)> {
    on_one(session, handle, None, |bound, reading| bound.value(reading))
}

/// `MPI_T_pvar_readreset`: both of one moment.
pub fn read_reset(session: Session, handle: Handle) -> Result<(&'static Variable, u64)> {
    on_one(session, handle, Some(Code::NoWrite), |bound, reading| {
        let value = bound.value(reading);
        bound.write(0, reading);
        value
    })
}

/// `MPI_T_pvar_write`: `value` is asked for once it is known that the variable takes one.
pub fn write(session: Session, handle: Handle, value: impl FnOnce() -> Result<u64>) -> Result<()> {
    let (_, written) = on_one(session, handle, Some(Code::NoWrite), |bound, reading| {
        value().map(|value| bound.write(value, reading))
    })?;
    written
}

/// `MPI_T_pvar_reset`: to zero. Of all handles, those that can be reset.
pub fn reset(session: Session, handle: Handle) -> Result<()> {
    on_some(session, handle, Code::NoWrite, |bound, reading| {
        bound.write(0, reading)
    })
}

/// `MPI_T_pvar_start`. Of all handles, those that can be started.
pub fn start(session: Session, handle: Handle) -> Result<()> {
    on_some(session, handle, Code::NoStartStop, Bound::start)
}

/// `MPI_T_pvar_stop`.
pub fn stop(session: Session, handle: Handle) -> Result<()> {
    on_some(session, handle, Code::NoStartStop, Bound::stop)
}

/// Works on one handle; `refused` is what a continuous variable says to it.
fn on_one<T>(
    session: Session,
    handle: Handle,
    refused: Option<Code>,
    work: impl FnOnce(&mut Bound, &Reading) -> T,
) -> Result<(&'static Variable, T)> {
    // Before the lock: they enter every lane.
    super::enter()?;
    let reading = reading();
    let mut tools = tools()?;
    let bound = handles(&mut tools, session)?.get_mut(&handle.0);
    let bound = bound.ok_or_else(|| error(Code::InvalidHandle))?;
    match refused {
        Some(code) if bound.variable().is_continuous() => Err(error(code)),
        _ => Ok((bound.variable(), work(bound, &reading))),
    }
}

/// Works on one handle, or on all of a session for which that is possible.
fn on_some(
    session: Session,
    handle: Handle,
    refused: Code,
    mut work: impl FnMut(&mut Bound, &Reading),
) -> Result<()> {
    if handle != Handle::ALL {
        return on_one(session, handle, Some(refused), work).map(drop);
    }
    super::enter()?;
    let reading = reading();
    for bound in handles(&mut *tools()?, session)?.values_mut() {
        if !bound.variable().is_continuous() {
            work(bound, &reading);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_sees_what_was_counted_while_it_ran() {
        let index = ALL
            .iter()
            .position(|variable| variable.name == "weft_messages_eager")
            .unwrap();
        let mut bound = Bound {
            index,
            total: 0,
            since: None,
        };
        let at = |eager| {
            let mut reading = Reading::default();
            reading.counts.tally.eager = eager;
            reading
        };
        assert_eq!(bound.value(&at(10)), 0);
        bound.start(&at(10));
        assert_eq!(bound.value(&at(13)), 3);
        bound.start(&at(14));
        assert_eq!(bound.value(&at(15)), 5, "starting again changes nothing");
        bound.stop(&at(16));
        assert_eq!(bound.value(&at(20)), 6);
        bound.start(&at(20));
        assert_eq!(bound.value(&at(21)), 7);
        bound.write(100, &at(22));
        assert_eq!(bound.value(&at(25)), 103);
        bound.stop(&at(25));
        bound.write(0, &at(30));
        assert_eq!(bound.value(&at(31)), 0);
    }
}
