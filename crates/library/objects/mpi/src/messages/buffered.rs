//! Buffered sends (MPI-5.0 §3.6): the message is copied into memory that the program attached to the communicator, to
//! the session it is derived from or to the process, or that the library allocates. The first of them that there is serves
//! a send alone.
//!
//! The lock on the buffers is never held while waiting: other threads' buffered sends are local all the time.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::Mutex;

use weft_engine::RequestId;
use weft_transport::Memory;

use crate::error::{Class, Result, argument};
use crate::handle::{CommId, SessionId};
use crate::messages::compound::Compound;
use crate::messages::operation;
use crate::messages::start::start_send;
use crate::objects::comm::{Comm, Traffic};
use crate::objects::request::Request;
use crate::objects::session;
use crate::process::engine::engine;

/// Whose buffer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Process,
    Session(SessionId),
    Comm(CommId),
}

/// Where messages are copied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Attached {
        base: *mut u8,
        bytes: usize,
    },
    /// `MPI_BUFFER_AUTOMATIC`: allocated as needed.
    Automatic,
}

// SAFETY: attached memory is the library's until it is detached; it is used under the mutex around `Buffers`, and by
// sends that hold parts of it.
unsafe impl Send for Space {}

/// What a buffer is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Process,
    Session(SessionId),
    /// The context of point-to-point messages.
    Comm(u32),
}

/// The buffers that are attached.
#[derive(Default)]
pub(crate) struct Buffers(HashMap<Key, Buffer>);

struct Buffer {
    space: Space,
    /// In order of their place, where they have one.
    messages: Vec<Message>,
}

struct Message {
    start: usize,
    bytes: usize,
    request: RequestId,
    /// The data, if they lie in memory of the library's.
    _own: Option<Box<[u8]>>,
}

impl Buffer {
    /// Forgets the messages that are out.
    fn reap(&mut self) {
        let engine = engine();
        self.messages.retain(|message| {
            let complete = engine.is_complete(message.request);
            if complete {
                engine.finish(message.request);
            }
            !complete
        });
    }

    fn pending(&self) -> Vec<RequestId> {
        self.messages
            .iter()
            .map(|message| message.request)
            .collect()
    }

    /// The first gap of `bytes` in memory of length `all`: its place in the list, and where it starts.
    fn gap(&self, bytes: usize, all: usize) -> Option<(usize, usize)> {
        let mut start = 0;
        for (place, message) in self.messages.iter().enumerate() {
            if message.start - start >= bytes {
                return Some((place, start));
            }
            start = message.start + message.bytes;
        }
        (all - start >= bytes).then_some((self.messages.len(), start))
    }

    fn room(&mut self, bytes: usize) -> Result<Room> {
        let (base, all) = match self.space {
            Space::Attached { base, bytes } => (base, bytes),
            Space::Automatic => {
                let mut own = vec![0; bytes].into_boxed_slice();
                return Ok(Room {
                    place: self.messages.len(),
                    start: 0,
                    address: own.as_mut_ptr(),
                    own: Some(own),
                });
            }
        };
        if self.gap(bytes, all).is_none() {
            engine().progress();
            self.reap();
        }
        let (place, start) = self.gap(bytes, all).ok_or_else(|| {
            let what = format_args!("{bytes} bytes do not fit what is free of the attached {all}");
            argument(Class::Buffer, "buf", what)
        })?;
        Ok(Room {
            place,
            start,
            address: base.wrapping_add(start),
            own: None,
        })
    }
}

/// Room for one more message.
struct Room {
    /// In the list of messages.
    place: usize,
    /// In the attached buffer.
    start: usize,
    address: *mut u8,
    own: Option<Box<[u8]>>,
}

impl Owner {
    fn key(self) -> Result<Key> {
        Ok(match self {
            Owner::Process => Key::Process,
            Owner::Session(session) => {
                session::check(session)?;
                Key::Session(session)
            }
            Owner::Comm(comm) => Key::of(crate::objects::comm::find(comm)?),
        })
    }
}

impl Key {
    /// That of a communicator's own buffer.
    pub fn of(comm: &Comm) -> Key {
        Key::Comm(comm.context(Traffic::PointToPoint))
    }
}

static BUFFERS: LazyLock<Mutex<Buffers>> = LazyLock::new(Mutex::default);

fn buffers() -> parking_lot::MutexGuard<'static, Buffers> {
    BUFFERS.lock()
}

/// `MPI_Buffer_attach`, `MPI_Session_attach_buffer`, `MPI_Comm_attach_buffer`.
pub fn attach(owner: Owner, space: Space) -> Result<()> {
    let key = owner.key()?;
    if let Space::Attached { base, bytes } = space
        && base.is_null()
        && bytes > 0
    {
        return Err(argument(Class::Buffer, "buffer", "a null pointer"));
    }
    let mut buffers = buffers();
    if buffers.0.contains_key(&key) {
        return Err(argument(Class::Buffer, "buffer", "one is attached already"));
    }
    let messages = Vec::new();
    buffers.0.insert(key, Buffer { space, messages });
    Ok(())
}

/// `MPI_Buffer_detach`, `MPI_Session_detach_buffer`, `MPI_Comm_detach_buffer`: waits for the messages in it. None if
/// there was none. A buffer that `acceptable` refuses stays attached.
pub fn detach(owner: Owner, acceptable: impl Fn(&Space) -> Result<()>) -> Result<Option<Space>> {
    let key = owner.key()?;
    loop {
        flush_key(key)?;
        let mut buffers = buffers();
        match buffers.0.get(&key) {
            None => return Ok(None),
            // Another thread has sent since.
            Some(buffer) if !buffer.messages.is_empty() => continue,
            Some(buffer) => {
                acceptable(&buffer.space)?;
                return Ok(buffers.0.remove(&key).map(|buffer| buffer.space));
            }
        }
    }
}

/// `MPI_Buffer_flush`, `MPI_Session_flush_buffer`, `MPI_Comm_flush_buffer`: waits for the messages that are in it now.
pub fn flush(owner: Owner) -> Result<()> {
    flush_key(owner.key()?)
}

fn flush_key(key: Key) -> Result<()> {
    engine().wait(begin_flush(key)?);
    if let Some(buffer) = buffers().0.get_mut(&key) {
        buffer.reap();
    }
    Ok(())
}

/// An operation that waits for the messages that are in a buffer now. Each caller has one of its own: a request has
/// one sleeper at most, and several threads may flush one buffer.
fn begin_flush(key: Key) -> Result<RequestId> {
    let pending = pending(key);
    let begun = engine().begin(0, 0, |awaited| async move {
        for request in pending {
            operation::over(&awaited, request).await;
        }
        weft_engine::Status::EMPTY
    });
    Ok(begun?)
}

fn pending(key: Key) -> Vec<RequestId> {
    buffers().0.get(&key).map_or(Vec::new(), Buffer::pending)
}

/// `MPI_Buffer_iflush`, `MPI_Session_iflush_buffer`, `MPI_Comm_iflush_buffer`: a request for the messages that are in
/// it now.
pub fn iflush(owner: Owner) -> Result<Request> {
    Compound::Flush(begin_flush(owner.key()?)?).register()
}

/// Waits for all buffered messages.
pub(crate) fn flush_all() -> Result<()> {
    let keys: Vec<Key> = buffers().0.keys().copied().collect();
    keys.into_iter().try_for_each(flush_key)
}

/// Who owned the buffer is gone, after a flush.
pub(crate) fn forget(key: Key) {
    buffers().0.remove(&key);
}

/// Starts a send from a copy.
pub(crate) fn send(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    dest: u32,
    tag: u32,
) -> Result<Request> {
    let mut buffers = buffers();
    let session = comm.group().session().map(Key::Session);
    let keys = [Some(Key::of(comm)), session, Some(Key::Process)];
    let key = keys
        .into_iter()
        .flatten()
        .find(|key| buffers.0.contains_key(key));
    let Some(buffer) = key.and_then(|key| buffers.0.get_mut(&key)) else {
        let what = "no buffer is attached for buffered sends";
        return Err(argument(Class::Buffer, "buf", what));
    };
    buffer.reap();
    let bytes = memory.bytes;
    let Room {
        place,
        start,
        address,
        own,
    } = buffer.room(bytes)?;
    if bytes > 0 {
        // SAFETY: the room belongs to no other message, within the attached buffer or in memory just allocated; the
        // source is the caller's.
        unsafe { memory.read(0, std::slice::from_raw_parts_mut(address, bytes)) };
    }
    let copy = Memory::contiguous(address, bytes);
    let request = start_send(comm, traffic, copy, dest, tag)?;
    if let Some(request) = request.as_engine().filter(|&id| id != RequestId::DONE) {
        let message = Message {
            start,
            bytes,
            request,
            _own: own,
        };
        buffer.messages.insert(place, message);
    }
    Ok(Request::done())
}
