//! Buffered sends (MPI-5.0 §3.6): the message is copied into memory that the program attached.

use weft_engine::Engine;
use weft_shm::Shm;
use weft_transport::Memory;

use crate::comm::{Comm, Traffic};
use crate::completion;
use crate::error::handler::argument;
use crate::error::{Class, Result};
use crate::point_to_point::{Mode, start_send};
use crate::process::process;
use crate::request::Request;

/// What the program attached, and the messages in it.
#[derive(Default)]
pub(crate) struct Buffers {
    attached: Option<Attached>,
}

struct Attached {
    base: *mut u8,
    bytes: usize,
    /// In order of their place.
    messages: Vec<InBuffer>,
}

struct InBuffer {
    start: usize,
    bytes: usize,
    request: Request,
}

// SAFETY: attached memory is the library's until it is detached; it is used under the mutex around `Buffers`, and by
// sends that hold parts of it.
unsafe impl Send for Buffers {}

impl Attached {
    /// Forgets the messages that are out.
    fn reap(&mut self) -> Result<()> {
        let mut failed = Ok(());
        self.messages
            .retain_mut(|message| match completion::test(&mut message.request) {
                Ok(done) => done.is_none(),
                Err(error) => {
                    failed = Err(error);
                    false
                }
            });
        failed
    }

    /// The first gap of `bytes`: its place in the list, and where it starts.
    fn gap(&self, bytes: usize) -> Option<(usize, usize)> {
        let mut start = 0;
        for (place, message) in self.messages.iter().enumerate() {
            if message.start - start >= bytes {
                return Some((place, start));
            }
            start = message.start + message.bytes;
        }
        (self.bytes - start >= bytes).then_some((self.messages.len(), start))
    }
}

impl Buffers {
    /// Waits until no message is in the buffer.
    pub fn flush(&mut self, engine: &Engine<Shm>) {
        for message in self
            .attached
            .iter_mut()
            .flat_map(|attached| attached.messages.drain(..))
        {
            if let Some(id) = message.request.as_engine() {
                engine.wait(id);
            }
        }
    }
}

/// `MPI_Buffer_attach`.
pub fn attach(base: *mut u8, bytes: i64) -> Result<()> {
    let bytes = usize::try_from(bytes)
        .map_err(|_| argument(Class::Arg, "size", format_args!("{bytes} is negative")))?;
    if base.is_null() && bytes > 0 {
        return Err(argument(Class::Buffer, "buffer", "a null pointer"));
    }
    let mut buffers = process().buffers.lock().expect("no panic inside");
    if buffers.attached.is_some() {
        return Err(argument(Class::Buffer, "buffer", "one is attached already"));
    }
    buffers.attached = Some(Attached {
        base,
        bytes,
        messages: Vec::new(),
    });
    Ok(())
}

/// `MPI_Buffer_detach`: waits for the messages in it; its address and length, or null and 0 if there was none.
pub fn detach() -> Result<(*mut u8, usize)> {
    flush()?;
    let mut buffers = process().buffers.lock().expect("no panic inside");
    let attached = buffers.attached.take();
    Ok(attached.map_or((std::ptr::null_mut(), 0), |attached| {
        (attached.base, attached.bytes)
    }))
}

/// `MPI_Buffer_flush`.
pub fn flush() -> Result<()> {
    let mut buffers = process().buffers.lock().expect("no panic inside");
    buffers.flush(&process().engine);
    Ok(())
}

/// Starts a send from a copy in the attached buffer.
pub(crate) fn send(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    dest: u32,
    tag: u32,
) -> Result<Request> {
    let mut buffers = process().buffers.lock().expect("no panic inside");
    let Some(attached) = &mut buffers.attached else {
        return Err(argument(
            Class::Buffer,
            "buf",
            "no buffer is attached for buffered sends",
        ));
    };
    attached.reap()?;
    let bytes = memory.bytes;
    let Some((place, start)) = attached.gap(bytes) else {
        let all = attached.bytes;
        let what = format_args!("{bytes} bytes do not fit what is free of the attached {all}");
        return Err(argument(Class::Buffer, "buf", what));
    };
    let base = attached.base.wrapping_add(start);
    if bytes > 0 {
        // SAFETY: the gap lies within the attached buffer and belongs to no message; the source is the caller's.
        unsafe { memory.read(0, std::slice::from_raw_parts_mut(base, bytes)) };
    }
    let copy = Memory::contiguous(base, bytes);
    let request = start_send(comm, traffic, copy, dest, tag, Mode::Standard)?;
    if request != Request::done() {
        attached.messages.insert(
            place,
            InBuffer {
                start,
                bytes,
                request,
            },
        );
    }
    Ok(Request::done())
}
