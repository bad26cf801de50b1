//! Identifiers: making, binding, resolving and destroying them (rdma_create_id(3), rdma_resolve_addr(3)).

use std::ffi::{c_int, c_void};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use libc::sockaddr;
use weft_verbs_abi::*;

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, require, status};
use crate::channel::{self, Channel, Event};
use crate::device::{self, Device, devices};
use crate::message::{Message, MessageKind};
use crate::sockets::{Owner, sockets};

/// The public part first: a pointer to one is a pointer to the other. Programs read and write the public part, so
/// there is never a reference to the whole.
#[repr(C)]
pub struct Identifier {
    abi: rdma_cm_id,
    inner: Mutex<Inner>,
    /// Events that were given out and not acknowledged.
    held: Mutex<u32>,
    released: Condvar,
}

/// What only this library knows.
pub struct Inner {
    /// Its endpoint among the sockets, once it listens, connects or has come in.
    pub token: Option<u64>,
    /// A socket that is bound and does nothing yet.
    pub socket: Option<OwnedFd>,
    pub device: Option<&'static Device>,
    /// What this side tells in its request or reply.
    pub own: Message,
    /// What the other side has told.
    pub peer: Option<Message>,
    /// Calls wait for their event: the identifier was made without a channel.
    pub waits: bool,
    pub reuse: bool,
    pub ack_timeout: Option<u8>,
    /// The multicast groups it has joined, and what the application calls each.
    pub groups: Vec<([u8; 16], usize)>,
    /// What `rdma_create_ep` shall give to the queue pairs of a listener's connections.
    pub template: Option<(*mut ibv_pd, ibv_qp_init_attr)>,
}

impl Identifier {
    /// # Safety
    /// `id` came from [`create`] and is not destroyed while the result is used.
    pub unsafe fn inner(id: *mut rdma_cm_id) -> MutexGuard<'static, Inner> {
        // SAFETY: the caller's promise.
        let inner = unsafe { &(*id.cast::<Identifier>()).inner };
        inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more event that has to be acknowledged.
    ///
    /// # Safety
    /// As for [`Identifier::inner`].
    pub unsafe fn hold(id: *mut rdma_cm_id) {
        // SAFETY: the caller's promise.
        let held = unsafe { &(*id.cast::<Identifier>()).held };
        *held.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// # Safety
    /// As for [`Identifier::inner`], and after one [`Identifier::hold`].
    pub unsafe fn release(id: *mut rdma_cm_id) {
        let id: *mut Identifier = id.cast();
        // SAFETY: the caller's promise. Who waits is let go under the lock, so it cannot free before this is over.
        unsafe {
            let mut held = (*id).held.lock().unwrap_or_else(PoisonError::into_inner);
            *held -= 1;
            (*id).released.notify_all();
        }
    }
}

/// # Safety
/// `id` is one of ours.
pub unsafe fn owner(id: *mut rdma_cm_id) -> Owner {
    Owner {
        id: id.cast(),
        // SAFETY: the caller's promise.
        channel: unsafe { (*id).channel }.cast_const().cast(),
    }
}

/// A new identifier; without a channel it gets one of its own, and calls wait for their events.
pub fn create(
    channel: *mut rdma_event_channel,
    context: *mut c_void,
    ps: rdma_port_space,
) -> Outcome<*mut rdma_cm_id> {
    let waits = channel.is_null();
    let channel = if waits {
        Channel::create()?.cast()
    } else {
        channel
    };
    // SAFETY: plain numbers and pointers.
    let mut abi: rdma_cm_id = unsafe { std::mem::zeroed() };
    abi.channel = channel;
    abi.context = context;
    abi.ps = ps;
    abi.qp_type = match ps {
        RDMA_PS_UDP => IBV_QPT_UD,
        _ => IBV_QPT_RC,
    };
    let inner = Inner {
        token: None,
        socket: None,
        device: None,
        own: Message {
            psn: random_psn(),
            ..Message::bare(MessageKind::Request)
        },
        peer: None,
        waits,
        reuse: false,
        ack_timeout: None,
        groups: Vec::new(),
        template: None,
    };
    Ok(Box::into_raw(Box::new(Identifier {
        abi,
        inner: Mutex::new(inner),
        held: Mutex::new(0),
        released: Condvar::new(),
    }))
    .cast())
}

/// # Safety
/// `id` is writable, `channel` null or one of ours.
pub unsafe extern "C" fn rdma_create_id(
    channel: *mut rdma_event_channel,
    id: *mut *mut rdma_cm_id,
    context: *mut c_void,
    ps: rdma_port_space,
) -> c_int {
    let known = require(
        matches!(ps, RDMA_PS_TCP | RDMA_PS_UDP),
        libc::EPROTONOSUPPORT,
    );
    let made = known
        .and_then(|()| devices())
        .and_then(|_| create(channel, context, ps));
    // SAFETY: the caller's promise.
    status(made.map(|made| unsafe { id.write(made) }))
}

/// Waits until the events that were given out are acknowledged; those in the queue are dropped.
///
/// # Safety
/// `id` is one of ours, its queue pair destroyed, and it is not used again.
pub unsafe extern "C" fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let (token, waits) = {
            let inner = Identifier::inner(id);
            (inner.token, inner.waits)
        };
        if let (Some(token), Ok(sockets)) = (token, sockets()) {
            sockets.forget(token);
        }
        if waits {
            acknowledge_own(id);
        }
        let identifier: *mut Identifier = id.cast();
        let channel = (*id).channel.cast::<Channel>();
        (*channel).take_all_about(id);
        {
            let held = (*identifier).held.lock();
            let held = held.unwrap_or_else(PoisonError::into_inner);
            let none = (*identifier).released.wait_while(held, |held| *held > 0);
            drop(none);
        }
        if waits {
            channel::rdma_destroy_event_channel((*id).channel);
        }
        let path = (*id).route.path_rec;
        if !path.is_null() {
            drop(Box::from_raw(path));
        }
        drop(Box::from_raw(identifier));
    }
    0
}

/// The event that an identifier without a channel keeps is done with.
///
/// # Safety
/// `id` is one of ours.
pub unsafe fn acknowledge_own(id: *mut rdma_cm_id) {
    // SAFETY: the caller's promise.
    unsafe {
        let event = std::mem::replace(&mut (*id).event, std::ptr::null_mut());
        if !event.is_null() {
            rdma_ack_cm_event(event);
        }
    }
}

/// Moves an identifier, with its news, to another channel, or to one of its own.
///
/// # Safety
/// Both are ours; all its events are acknowledged.
pub unsafe fn migrate(id: *mut rdma_cm_id, channel: *mut rdma_event_channel) -> Outcome {
    let alone = channel.is_null();
    let target = if alone {
        Channel::create()?
    } else {
        channel.cast()
    };
    // SAFETY: the caller's promise.
    unsafe {
        let (token, waited) = {
            let mut inner = Identifier::inner(id);
            (inner.token, std::mem::replace(&mut inner.waits, alone))
        };
        if let Some(token) = token {
            sockets()?.migrate(token, target);
        }
        let source = (*id).channel.cast::<Channel>();
        for news in (*source).take_all_about(id.cast()) {
            (*target).push(news);
        }
        (*id).channel = target.cast();
        if waited {
            acknowledge_own(id);
            channel::rdma_destroy_event_channel(source.cast());
        }
    }
    Ok(())
}

/// # Safety
/// As for [`migrate`].
pub unsafe extern "C" fn rdma_migrate_id(
    id: *mut rdma_cm_id,
    channel: *mut rdma_event_channel,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { migrate(id, channel) })
}

/// Gives the identifier a local address and a socket.
///
/// # Safety
/// `id` is one of ours.
pub unsafe fn bind(id: *mut rdma_cm_id, address: SocketAddr) -> Outcome {
    // SAFETY: the caller's promise.
    let mut inner = unsafe { Identifier::inner(id) };
    require(
        inner.socket.is_none() && inner.token.is_none(),
        libc::EINVAL,
    )?;
    let socket = address::bind(address, inner.reuse || address.port() != 0)?;
    let local = address::local(&socket)?;
    inner.socket = Some(socket);
    // SAFETY: as above.
    unsafe { (*id).route.addr.src = address::write(local).0 };
    Ok(())
}

/// Binds to an address of this host, whose device is the identifier's then, or to any.
///
/// The kernel refuses loopback addresses here. Programs that look up their own host's name often get one, and all goes well
/// as long as both sides are on this host.
///
/// # Safety
/// `id` is one of ours.
unsafe fn bind_to_device(id: *mut rdma_cm_id, address: SocketAddr) -> Outcome {
    let device = match address.ip() {
        ip if ip.is_unspecified() => None,
        ip => Some(devices()?.towards(ip)?),
    };
    // SAFETY: the caller's promise.
    unsafe {
        bind(id, address)?;
        if let Some(device) = device {
            attach(id, &mut Identifier::inner(id), device)?;
        }
    }
    Ok(())
}

/// The identifier is the device's from now on, and has its protection domain.
///
/// # Safety
/// `id` is one of ours, `inner` its own.
pub unsafe fn attach(id: *mut rdma_cm_id, inner: &mut Inner, device: &'static Device) -> Outcome {
    let pd = device.pd(&devices()?.library)?;
    inner.device = Some(device);
    // SAFETY: the caller's promise.
    unsafe {
        if (*id).pd.is_null() {
            (*id).pd = pd;
        }
        (*id).verbs = device.context;
        (*id).port_num = device::PORT;
        (*id).route.addr.ib.sgid.raw = device.gid;
        (*id).route.addr.ib.pkey = 0xffff;
    }
    Ok(())
}

/// # Safety
/// `id` is one of ours, `address` an address.
pub unsafe extern "C" fn rdma_bind_addr(id: *mut rdma_cm_id, address: *mut sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { address::read(address).and_then(|address| bind_to_device(id, address)) })
}

/// # Safety
/// `id` is one of ours.
pub unsafe fn set_route(id: *mut rdma_cm_id) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let inner = Identifier::inner(id);
        let device = inner.device.ok_or(Errno(libc::EINVAL))?;
        let peer = inner.peer.as_ref().ok_or(Errno(libc::EINVAL))?;
        let route = &raw mut (*id).route;
        if (*route).path_rec.is_null() {
            (*route).path_rec = Box::into_raw(Box::default());
        }
        *(*route).path_rec = ibv_sa_path_rec {
            dgid: ibv_gid { raw: peer.gid },
            sgid: ibv_gid { raw: device.gid },
            dlid: peer.lid.to_be(),
            slid: device.lid.to_be(),
            reversible: 1,
            numb_path: 1,
            pkey: 0xffff,
            mtu: device.mtu as u8,
            hop_limit: 64,
            ..Default::default()
        };
        (*route).num_paths = 1;
    }
    Ok(())
}

/// # Safety
/// `event` came from [`rdma_get_cm_event`] and is acknowledged once.
pub unsafe extern "C" fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    if event.is_null() {
        return status(Err(Errno(libc::EINVAL)));
    }
    // SAFETY: it was leaked from a box by `next`; its holder waits for this.
    unsafe {
        let event = Box::from_raw(event.cast::<Event>());
        Identifier::release(event.holder);
    }
    0
}

/// A random packet sequence number. A start that is not random would work too.
fn random_psn() -> u32 {
    let [word, _] = weft_kernel::random_words().unwrap_or_default();
    word as u32 & 0xff_ffff
}
