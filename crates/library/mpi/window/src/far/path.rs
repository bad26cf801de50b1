//! From this process to one target: how commands leave, and when what they ask for is over.

use parking_lot::MutexGuard;
use weft_engine::RequestId;
use weft_error::{Class, Error, Result, argument};
use weft_memory::Memory;
use weft_messages::request::{Request, Status};
use weft_messages::start::{start_receive, start_send};
use weft_objects::comm::{Comm, Traffic};
use weft_process::engine::engine;
use weft_rma::far::Command;

use super::exposure::TheirExposure;
use super::gathered::Gathered;
use super::line::{DATA_TAGS, Line, State, What};

/// Bytes of the longest message with commands, which goes eagerly.
pub const MESSAGE_BYTES: usize = 16 << 10;

pub const NOTHING: Memory = Memory::contiguous(std::ptr::null_mut(), 0);

/// The one that finishes the messages of an access.
pub enum Owner {
    /// The line, at a flush or the end of the epoch.
    Line,
    /// A request of the program's, to be made of them.
    Program(Vec<RequestId>),
}

impl Owner {
    /// The program learns of an error at once, and has no request.
    pub fn give_up(self) {
        if let Owner::Program(ids) = self {
            ids.into_iter().for_each(|id| engine().detach(id));
        }
    }
}

/// The way to a target of a window.
#[derive(Clone, Copy)]
pub struct Path<'a> {
    pub(super) comm: &'a Comm,
    pub(super) target: u32,
    pub(super) exposure: &'a TheirExposure,
    pub(super) line: &'a Line,
    pub(super) gathered: &'a Gathered,
}

/// A completion that was begun: what is to be waited for.
pub struct Flushing {
    /// The accesses up to this one.
    last: u64,
    /// The target's answer, if it was asked.
    answer: Option<RequestId>,
}

impl<'a> Path<'a> {
    /// Locks the line for an access, for which the part is locked if it is to be, once not too much is under way.
    pub(super) fn enter_to_access(&self) -> Result<MutexGuard<'a, State>> {
        loop {
            let mut state = self.enter();
            if state.is_lock_due {
                drop(state);
                self.take_due_lock()?;
            } else if !self.pause(&mut state) {
                return Ok(state);
            }
        }
    }

    /// Locks the line.
    pub(super) fn enter(&self) -> MutexGuard<'a, State> {
        let mut state = self.line.state.lock();
        state.first_pending(0);
        state
    }

    /// Waits while too much is under way. Other threads may access the target meanwhile: true says that they perhaps have.
    pub(super) fn pause(&self, state: &mut MutexGuard<'_, State>) -> bool {
        if state.is_within(1) {
            return false;
        }
        MutexGuard::unlocked(state, || {
            self.wait_until(|state| state.is_within(2));
        });
        true
    }

    /// Room for one more command in the batch, besides its head.
    pub(super) fn room(state: &State) -> usize {
        MESSAGE_BYTES.saturating_sub(state.batch.len() + Command::HEAD)
    }

    /// Adds a command to the batch. There is room for it.
    pub(super) fn write(state: &mut State, command: &Command) {
        if state.batch.capacity() == 0 {
            state.batch.reserve_exact(MESSAGE_BYTES);
        }
        command.write(&mut state.batch);
        debug_assert!(state.batch.len() <= MESSAGE_BYTES);
    }

    /// Adds a command that has neither access nor data.
    fn write_short(&self, state: &mut State, command: &Command) -> Result<()> {
        if Self::room(state) == 0 {
            self.send(state)?;
        }
        Self::write(state, command);
        Ok(())
    }

    /// The same, and sends it with those before.
    pub(super) fn write_last(&self, state: &mut State, command: &Command) -> Result<()> {
        self.write_short(state, command)?;
        self.send(state)
    }

    /// Leaves the batch for other commands to join it.
    pub(super) fn gather(&self, state: &mut State) {
        if !state.batch.is_empty() && !state.is_gathered {
            state.is_gathered = true;
            self.gathered.add(self.target);
        }
    }

    /// Sends the batch.
    pub(super) fn send(&self, state: &mut State) -> Result<()> {
        if state.batch.is_empty() {
            return Ok(());
        }
        let mut batch = std::mem::take(&mut state.batch);
        let memory = Memory::contiguous(batch.as_mut_ptr(), batch.len());
        let sent = start_send(self.comm, Traffic::OneSidedCommands, memory, self.target, 0)?;
        match under_way(sent) {
            Some(id) => state.note(id, What::Batch(batch)),
            None => {
                batch.clear();
                state.batch = batch;
            }
        }
        Ok(())
    }

    /// Posts the receive of an answer: the tag that the command is to say.
    pub(super) fn expect(&self, state: &mut State, memory: Memory) -> Result<(u32, RequestId)> {
        let tag = state.tag();
        let (from, number) = (self.target as i32, tag as i32);
        let posted = start_receive(self.comm, Traffic::OneSided, memory, from, number)?;
        let id = posted.as_engine();
        Ok((tag, id.expect("a receive has a request")))
    }

    /// Sends data of a put that was announced by the tag.
    pub(super) fn send_data(&self, memory: Memory, tag: u32) -> Result<Option<RequestId>> {
        let sent = start_send(self.comm, Traffic::OneSided, memory, self.target, tag)?;
        Ok(under_way(sent))
    }

    pub(super) fn data_tag(state: &mut State) -> u32 {
        DATA_TAGS + state.tag()
    }

    /// Notes a message of an access, for its owner.
    pub(super) fn note(state: &mut State, owner: &mut Owner, id: RequestId, what: What) {
        match owner {
            Owner::Line => state.note(id, what),
            Owner::Program(ids) => {
                ids.push(id);
                state.note(id, What::Borrowed(what.result_bytes()));
            }
        }
    }

    /// Asks something of the target that it answers by an empty message.
    pub(super) fn ask(
        &self,
        state: &mut State,
        command: impl Fn(u32) -> Command<'static>,
    ) -> Result<RequestId> {
        let id = self.write_question(state, command)?;
        self.send(state)?;
        Ok(id)
    }

    fn write_question(
        &self,
        state: &mut State,
        command: impl Fn(u32) -> Command<'static>,
    ) -> Result<RequestId> {
        let (reply, id) = self.expect(state, NOTHING)?;
        self.write_short(state, &command(reply))?;
        Ok(id)
    }

    /// Begins to complete all accesses so far: at the target too if `remotely`. Nothing is asked of it if it would have nothing to
    /// tell, unless `always`.
    pub(super) fn begin_flush(
        &self,
        state: &mut State,
        remotely: bool,
        always: bool,
    ) -> Result<Flushing> {
        let asks = remotely && (always || state.is_unconfirmed());
        let answer = match asks {
            true => Some(self.ask(state, |reply| Command::Flush { reply })?),
            false => None,
        };
        let last = state.begun;
        Ok(Flushing { last, answer })
    }

    /// The same, and lets the lock go after it: the target handles one after the other.
    pub(super) fn begin_flush_and_unlock(&self, state: &mut State) -> Result<Flushing> {
        let asks = state.is_unconfirmed();
        let answer = match asks {
            true => Some(self.write_question(state, |reply| Command::Flush { reply })?),
            false => None,
        };
        state.is_unlocking = true;
        self.write_last(state, &Command::Unlock)?;
        let last = state.begun;
        Ok(Flushing { last, answer })
    }

    /// Waits for what was begun. An error of an access since the last time is that of this call.
    pub(super) fn end_flush(&self, flushing: Flushing) -> Result<()> {
        let outcome = flushing.answer.map_or(Ok(()), answered);
        self.wait_until(|state| state.first_pending(flushing.last).is_none());
        let mut state = self.line.state.lock();
        let failed = state.failed.take();
        if flushing.answer.is_some() && outcome.is_ok() {
            state.confirmed = state.confirmed.max(flushing.last);
            state.is_unlocking = false;
        }
        outcome.and(failed.map_or(Ok(()), Err))
    }

    /// Waits for messages under way, the oldest first, until the line is as wanted.
    fn wait_until(&self, is_met: impl Fn(&mut State) -> bool) {
        if is_met(&mut self.line.state.lock()) {
            return;
        }
        let _alone = self.line.waiting.lock();
        loop {
            let mut state = self.line.state.lock();
            if is_met(&mut state) {
                return;
            }
            let first = state.first_pending(u64::MAX);
            drop(state);
            match first {
                Some(id) => engine().wait_any(&[id]),
                None => return,
            }
        }
    }

    /// Tells this process's own server that nothing more comes.
    pub(super) fn stop(&self) -> Result<()> {
        let mut state = self.enter();
        self.write_last(&mut state, &Command::Stop)?;
        let last = state.begun;
        drop(state);
        self.wait_until(|state| state.first_pending(last).is_none());
        Ok(())
    }
}

/// The engine's request, if the message is not over yet.
pub(super) fn under_way(request: Request) -> Option<RequestId> {
    request.as_engine().filter(|&id| id != RequestId::DONE)
}

/// Waits for an answer without data.
pub(super) fn answered(id: RequestId) -> Result<()> {
    let status = Status::from_engine(engine().wait(id));
    match status.class {
        Class::RmaRange => Err(out_of_range()),
        _ => status.check(),
    }
}

/// Only the target could find this.
#[cold]
fn out_of_range() -> Error {
    let what = "not all data of an access are attached at its target, or in its part of the window";
    argument(Class::RmaRange, "target_disp", what)
}
