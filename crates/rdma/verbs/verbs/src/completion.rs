//! Completion queues and the channels that wake for them (ibv_create_cq(3), ibv_create_cq_ex(3), ibv_poll_cq(3), ibv_resize_cq(3)).

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use weft_kernel::above_standard;
use weft_verbs_abi::inline::{ibv_cq_ex_to_cq, ibv_create_cq_ex, ibv_poll_cq, ibv_req_notify_cq};
use weft_verbs_abi::*;

use crate::error::{check, destroyed};
use crate::{Context, Error};

/// What a completion queue tells of a work request.
#[repr(transparent)]
#[derive(Clone, Copy, Default)]
pub struct Completion(pub ibv_wc);

impl Completion {
    pub fn id(&self) -> u64 {
        self.0.wr_id
    }

    /// `IBV_WC_SUCCESS` or why it failed.
    pub fn status(&self) -> ibv_wc_status {
        self.0.status
    }

    pub fn is_success(&self) -> bool {
        self.0.status == IBV_WC_SUCCESS
    }

    /// Not told of those that failed.
    pub fn opcode(&self) -> ibv_wc_opcode {
        self.0.opcode
    }

    /// Bytes that arrived.
    pub fn bytes(&self) -> u32 {
        self.0.byte_len
    }

    /// The number of the queue pair.
    pub fn queue_pair(&self) -> u32 {
        self.0.qp_num
    }

    /// Immediate data in this machine's order, if it came with such.
    pub fn immediate(&self) -> Option<u32> {
        // SAFETY: both views are integers.
        let immediate = unsafe { self.0.immediate.imm_data };
        (self.0.wc_flags & IBV_WC_WITH_IMM != 0).then(|| u32::from_be(immediate))
    }
}

impl std::fmt::Debug for Completion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Completion")
            .field("id", &self.id())
            .field("status", &self.status())
            .field("queue_pair", &self.queue_pair())
            .finish()
    }
}

/// What queue pairs report to.
///
/// # Safety
/// [`as_abi`](Completions::as_abi) gives the same queue of [`context`](Completions::context) each time, and it lives as long as the
/// value. If the queue is single-threaded, then what holds it is not `Sync`, and is `Send` only if it is the only one
/// that holds it: destroying a queue pair looks into the queue too.
pub unsafe trait Completions {
    fn as_abi(&self) -> *mut ibv_cq;
    fn context(&self) -> &Context;
}

struct Inner {
    raw: *mut ibv_cq,
    channel: Option<Channel>,
    context: Context,
}

impl Inner {
    fn poll<'w>(&self, into: &'w mut [Completion]) -> Result<&'w [Completion], Error> {
        let room = c_int::try_from(into.len()).unwrap_or(c_int::MAX);
        // SAFETY: alive, and room for so many.
        let count = unsafe { ibv_poll_cq(self.raw, room, into.as_mut_ptr().cast()) };
        match into.get(..count as usize) {
            Some(completions) => Ok(completions),
            None => Err(Error::new("ibv_poll_cq", self.context.name(), -count)),
        }
    }

    fn arm(&self, solicited_only: bool) -> Result<(), Error> {
        // SAFETY: alive.
        let answer = unsafe { ibv_req_notify_cq(self.raw, c_int::from(solicited_only)) };
        check("ibv_req_notify_cq", answer, || self.context.name().into())
    }

    fn new(
        call: &'static str,
        raw: *mut ibv_cq,
        context: &Context,
        channel: Option<&Channel>,
    ) -> Result<Inner, Error> {
        if raw.is_null() {
            return Err(Error::last(call, context.name()));
        }
        Ok(Inner {
            raw,
            channel: channel.cloned(),
            context: context.clone(),
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: created in this context; queue pairs kept it, and events are acknowledged when they are taken.
        let answer = unsafe { (self.context.library().destroy_cq)(self.raw) };
        destroyed("ibv_destroy_cq", answer, || self.context.name().into());
    }
}

/// A completion queue that all threads may poll: it has a lock. Clones are the same queue.
#[derive(Clone)]
pub struct CompletionQueue {
    inner: Arc<Locked>,
}

struct Locked {
    inner: Inner,
    /// Held while the queue is resized, for which the library takes no lock that covers all of it.
    resizing: Mutex<()>,
}

// SAFETY: the library takes the queue's lock.
unsafe impl Send for Locked {}
// SAFETY: as above.
unsafe impl Sync for Locked {}

impl CompletionQueue {
    /// For at least `entries` completions. `channel` and the number by which it names the queue, if events are wanted.
    pub fn new(
        context: &Context,
        entries: u32,
        channel: Option<(&Channel, u64)>,
    ) -> Result<CompletionQueue, Error> {
        let entries = c_int::try_from(entries).unwrap_or(c_int::MAX);
        let (raw_channel, key) = channel.map_or((null_mut(), 0), |(c, key)| (c.as_abi(), key));
        // SAFETY: both are alive; the number is never taken for a pointer.
        let raw = unsafe {
            let key = key as *mut c_void;
            (context.library().create_cq)(context.as_abi(), entries, key, raw_channel, 0)
        };
        let channel = channel.map(|(channel, _)| channel);
        let inner = Inner::new("ibv_create_cq", raw, context, channel)?;
        Ok(CompletionQueue {
            inner: Arc::new(Locked {
                inner,
                resizing: Mutex::new(()),
            }),
        })
    }

    /// Takes completions, as many as there are and have room.
    #[inline]
    pub fn poll<'w>(&self, into: &'w mut [Completion]) -> Result<&'w [Completion], Error> {
        self.inner.inner.poll(into)
    }

    /// Asks the channel for one event: at the next completion, or the next solicited one.
    pub fn arm(&self, solicited_only: bool) -> Result<(), Error> {
        self.inner.inner.arm(solicited_only)
    }

    pub fn channel(&self) -> Option<&Channel> {
        self.inner.inner.channel.as_ref()
    }

    /// Makes room for at least `entries` completions; those that wait stay. `EINVAL` if more wait, `ENOSYS` from devices that cannot.
    pub fn resize(&self, entries: u32) -> Result<(), Error> {
        let Locked { inner, resizing } = &*self.inner;
        let _alone = resizing.lock();
        let entries = c_int::try_from(entries).unwrap_or(c_int::MAX);
        // SAFETY: alive; no other thread resizes it.
        let answer = unsafe { (inner.context.library().resize_cq)(inner.raw, entries) };
        check("ibv_resize_cq", answer, || inner.context.name().into())
    }
}

// SAFETY: kept by the value; it has a lock.
unsafe impl Completions for CompletionQueue {
    fn as_abi(&self) -> *mut ibv_cq {
        self.inner.inner.raw
    }

    fn context(&self) -> &Context {
        &self.inner.inner.context
    }
}

/// A completion queue without a lock, for one thread at a time (`IBV_CREATE_CQ_ATTR_SINGLE_THREADED`).
pub struct SoleCompletionQueue {
    inner: Inner,
    _one_thread: PhantomData<Cell<()>>,
}

// SAFETY: it may be used by another thread than created it, one at a time.
unsafe impl Send for SoleCompletionQueue {}

impl SoleCompletionQueue {
    /// For at least `entries` completions. `EOPNOTSUPP` from devices that have no extended queues.
    pub fn new(context: &Context, entries: u32) -> Result<SoleCompletionQueue, Error> {
        let mut attributes = ibv_cq_init_attr_ex {
            cqe: entries,
            wc_flags: IBV_WC_STANDARD_FLAGS,
            comp_mask: IBV_CQ_INIT_ATTR_MASK_FLAGS,
            flags: IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
            ..Default::default()
        };
        // SAFETY: an open context, and attributes.
        let raw = unsafe { ibv_create_cq_ex(context.as_abi(), &mut attributes) };
        Ok(SoleCompletionQueue {
            inner: Inner::new("ibv_create_cq_ex", ibv_cq_ex_to_cq(raw), context, None)?,
            _one_thread: PhantomData,
        })
    }

    /// Takes completions, as many as there are and have room.
    #[inline]
    pub fn poll<'w>(&self, into: &'w mut [Completion]) -> Result<&'w [Completion], Error> {
        self.inner.poll(into)
    }
}

// SAFETY: not `Sync`, and `Send` because there is only one of it.
unsafe impl Completions for SoleCompletionQueue {
    fn as_abi(&self) -> *mut ibv_cq {
        self.inner.raw
    }

    fn context(&self) -> &Context {
        &self.inner.context
    }
}

/// Pointers to a queue. That of a queue which is not `Sync` is neither `Send` nor `Sync`.
macro_rules! pointers {
    ($($pointer:ty,)*) => {
        $(
            // SAFETY: as of what it points to, which it keeps.
            unsafe impl<C: Completions> Completions for $pointer {
                fn as_abi(&self) -> *mut ibv_cq {
                    (**self).as_abi()
                }

                fn context(&self) -> &Context {
                    (**self).context()
                }
            }
        )*
    };
}

pointers! { &C, Rc<C>, Arc<C>, }

/// Wakes who waits for completions. Clones are the same channel.
#[derive(Clone)]
pub struct Channel {
    inner: Arc<ChannelInner>,
}

struct ChannelInner {
    raw: *mut ibv_comp_channel,
    context: Context,
}

// SAFETY: libibverbs' calls on a channel may come from all threads at once.
unsafe impl Send for ChannelInner {}
// SAFETY: as above.
unsafe impl Sync for ChannelInner {}

impl Drop for ChannelInner {
    fn drop(&mut self) {
        // SAFETY: created in this context, and its queues kept it.
        let answer = unsafe { (self.context.library().destroy_comp_channel)(self.raw) };
        destroyed("ibv_destroy_comp_channel", answer, || {
            self.context.name().into()
        });
    }
}

impl Channel {
    pub fn new(context: &Context) -> Result<Channel, Error> {
        // SAFETY: an open context.
        let create = || unsafe { (context.library().create_comp_channel)(context.as_abi()) };
        let raw = above_standard(create);
        if raw.is_null() {
            return Err(Error::last("ibv_create_comp_channel", context.name()));
        }
        let context = context.clone();
        Ok(Channel {
            inner: Arc::new(ChannelInner { raw, context }),
        })
    }

    fn as_abi(&self) -> *mut ibv_comp_channel {
        self.inner.raw
    }

    /// Readable when there is an event; for poll(2).
    pub fn descriptor(&self) -> RawFd {
        // SAFETY: alive; the field does not change.
        unsafe { (*self.inner.raw).fd }
    }

    /// From here on [`wait`](Channel::wait) answers `EAGAIN` where there is no event.
    pub fn set_nonblocking(&self) -> Result<(), Error> {
        let descriptor = self.descriptor();
        // SAFETY: alive; the call takes numbers.
        let answer = unsafe {
            let flags = libc::fcntl(descriptor, libc::F_GETFL);
            libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK)
        };
        check("fcntl", answer.min(0), || self.inner.context.name().into())
    }

    /// Waits for an event, unless the descriptor was made non-blocking, and gives the number of its queue.
    pub fn wait(&self) -> Result<u64, Error> {
        let context = &self.inner.context;
        let (mut cq, mut key) = (null_mut(), null_mut());
        // SAFETY: alive, and writable. Events of queues that are gone do not come.
        let answer = unsafe { (context.library().get_cq_event)(self.inner.raw, &mut cq, &mut key) };
        check("ibv_get_cq_event", answer, || context.name().into())?;
        // SAFETY: the queue of this event lives until it is acknowledged.
        unsafe { (context.library().ack_cq_events)(cq, 1) };
        Ok(key as u64)
    }
}
