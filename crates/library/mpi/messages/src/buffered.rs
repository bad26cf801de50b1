//! Buffered sends (MPI-5.0 §3.6): the message is copied into memory that the program attached to the communicator, to
//! the session it is derived from or to the process, or that the library allocates. The first of them that there is serves
//! a send alone.
//!
//! The lock on the buffers guards the list of messages and nothing else: a send takes its room under it, by a message
//! that is STARTING; copies, starts its message and makes progress without it; and then tells, under it again, what became
//! of the message. So other threads' buffered sends are local all the time, whatever runs meanwhile.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use parking_lot::Mutex;

use weft_engine::RequestId;
use weft_error::{Class, Error, Result, argument};
use weft_handle::{CommId, SessionId};
use weft_memory::Memory;
use weft_objects::comm::{Comm, Traffic};
use weft_objects::session;
use weft_process::engine::engine;

use crate::compound::Compound;
use crate::operation;
use crate::request::Request;
use crate::start::start_send;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Process,
    Session(SessionId),
    /// The context of point-to-point messages.
    Comm(u32),
}

/// The buffers that are attached.
#[derive(Default)]
pub(crate) struct Buffers(BTreeMap<Key, Buffer>);

struct Buffer {
    space: Space,
    /// In order of their place, where they have one.
    messages: Vec<Message>,
    /// Rooms taken so far.
    rooms: RoomId,
}

struct Message {
    start: usize,
    bytes: usize,
    /// None while it is STARTING: the thread that sends it is copying.
    request: Option<RequestId>,
    room: RoomId,
    /// The data, if they lie in memory of the library's.
    _own: Option<Box<[u8]>>,
}

/// Names the room of a message among all of a buffer's.
type RoomId = u64;

impl Buffer {
    /// Forgets the messages that are out.
    fn reap(&mut self) {
        let engine = engine();
        self.messages.retain(|message| {
            let complete = message.request.filter(|&id| engine.is_complete(id));
            complete.map(|id| engine.finish(id)).is_none()
        });
    }

    /// The requests of its messages, without those that are STARTING.
    fn pending(&self) -> Vec<RequestId> {
        let requests = self.messages.iter().filter_map(|message| message.request);
        requests.collect()
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

    /// Takes room for one more message, which is STARTING; none if there is none now.
    fn take_room(&mut self, bytes: usize) -> Result<Option<Room>> {
        self.reap();
        let (place, start, address, own) = match self.space {
            Space::Attached { base, bytes: all } => {
                let Some((place, start)) = self.gap(bytes, all) else {
                    return Ok(None);
                };
                (place, start, base.wrapping_add(start), None)
            }
            Space::Automatic => {
                let mut own = weft_reserve::zeroed(bytes)?.into_boxed_slice();
                (self.messages.len(), 0, own.as_mut_ptr(), Some(own))
            }
        };
        self.rooms += 1;
        let room = self.rooms;
        let message = Message {
            start,
            bytes,
            request: None,
            room,
            _own: own,
        };
        self.messages.insert(place, message);
        Ok(Some(Room { room, address }))
    }

    /// What became of a message that was STARTING: it is under way, or out, or was not sent.
    fn started(&mut self, room: RoomId, request: Option<RequestId>) {
        let found = self
            .messages
            .iter()
            .position(|message| message.room == room);
        let place = found.expect("its sender alone takes a message away that is STARTING");
        match request {
            Some(_) => self.messages[place].request = request,
            None => drop(self.messages.remove(place)),
        }
    }

    #[cold]
    fn no_room(&self, bytes: usize) -> Error {
        let all = match self.space {
            Space::Attached { bytes, .. } => bytes,
            Space::Automatic => 0,
        };
        let what = format_args!("{bytes} bytes do not fit what is free of the attached {all}");
        argument(Class::Buffer, "buf", what)
    }
}

/// Room for one more message.
struct Room {
    room: RoomId,
    address: *mut u8,
}

impl Owner {
    fn key(self) -> Result<Key> {
        Ok(match self {
            Owner::Process => Key::Process,
            Owner::Session(session) => {
                session::check(session)?;
                Key::Session(session)
            }
            Owner::Comm(comm) => Key::of(weft_objects::comm::find(comm)?),
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
    let buffer = Buffer {
        space,
        messages: Vec::new(),
        rooms: 0,
    };
    buffers.0.insert(key, buffer);
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
            // Another thread has sent since, or does now.
            Some(buffer) if !buffer.messages.is_empty() => {
                drop(buffers);
                weft_sync::yield_now();
            }
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
            operation::until_complete(&awaited, request).await;
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
pub fn flush_all() -> Result<()> {
    let keys: Vec<Key> = buffers().0.keys().copied().collect();
    keys.into_iter().try_for_each(flush_key)
}

/// The buffer's owner is gone, after a flush.
pub fn forget(key: Key) {
    buffers().0.remove(&key);
}

/// The buffer that serves a send on a communicator.
fn key_of(buffers: &Buffers, comm: &Comm) -> Result<Key> {
    let session = comm.group().session().map(Key::Session);
    let keys = [Some(Key::of(comm)), session, Some(Key::Process)];
    let mut keys = keys.into_iter().flatten();
    keys.find(|key| buffers.0.contains_key(key)).ok_or_else(|| {
        let what = "no buffer is attached for buffered sends";
        argument(Class::Buffer, "buf", what)
    })
}

/// Takes room for a message, after a turn of progress if there is none.
fn take_room(comm: &Comm, bytes: usize) -> Result<(Key, Room)> {
    for is_last in [false, true] {
        let mut buffers = buffers();
        let key = key_of(&buffers, comm)?;
        let buffer = buffers.0.get_mut(&key).expect("it was found");
        match buffer.take_room(bytes)? {
            Some(room) => return Ok((key, room)),
            None if is_last => return Err(buffer.no_room(bytes)),
            None => drop(buffers),
        }
        engine().progress();
    }
    unreachable!("the last attempt returns")
}

/// Starts a send from a copy.
pub(crate) fn send(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    dest: u32,
    tag: u32,
) -> Result<Request> {
    let bytes = memory.bytes;
    let (key, Room { room, address }) = take_room(comm, bytes)?;
    if bytes > 0 {
        // SAFETY: the room belongs to no other message while this one is STARTING, and lies within the attached buffer or
        // in memory just allocated; the source is the caller's.
        unsafe { memory.read(0, std::slice::from_raw_parts_mut(address, bytes)) };
    }
    let copy = Memory::contiguous(address, bytes);
    let sent = start_send(comm, traffic, copy, dest, tag);
    let request = sent.as_ref().ok().and_then(|request| request.as_engine());
    let pending = request.filter(|&id| id != RequestId::DONE);
    let mut buffers = buffers();
    // It is there: a thread that detaches it waits for what is STARTING, and a communicator that is sent on is not freed.
    if let Some(buffer) = buffers.0.get_mut(&key) {
        buffer.started(room, pending);
    }
    sent.map(|_| Request::done())
}
