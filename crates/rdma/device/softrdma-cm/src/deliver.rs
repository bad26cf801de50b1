//! News as events: new identifiers are made here, and queue pairs moved.

use weft_verbs_abi::*;

use crate::abi::*;
use crate::address;
use crate::channel::{Event, News};
use crate::device::devices;
use crate::identifier::{self, Identifier, attach, owner, set_route};
use crate::membership;
use crate::message::{Message, MessageKind};
use crate::queue_pair;
use crate::sockets::{Stage, sockets};

/// The other side's parameters, as this side sees them: what one can have under way is what the other answers.
fn conn_param(event: &Event, peer: &Message) -> rdma_conn_param {
    let (private_data, private_data_len) = event.private_data(peer);
    rdma_conn_param {
        private_data,
        private_data_len,
        responder_resources: peer.initiator_depth,
        initiator_depth: peer.responder_resources,
        flow_control: u8::from(peer.flow_control),
        retry_count: peer.retry_count,
        rnr_retry_count: peer.rnr_retry_count,
        srq: u8::from(peer.srq),
        qp_num: peer.qp_num,
    }
}

/// Makes an event of news; `None` when nothing is left of what they are about.
///
/// # Safety
/// The news are from a channel of the application's call.
pub unsafe fn deliver(mut news: News) -> Option<Box<Event>> {
    // SAFETY: the caller's promise: whom the news are about was not destroyed.
    unsafe {
        let holder = news.about;
        let mut listener = std::ptr::null_mut();
        match news.event {
            RDMA_CM_EVENT_CONNECT_REQUEST => {
                listener = news.about.cast();
                news.about = arrival(listener, &news)?.cast();
            }
            RDMA_CM_EVENT_CONNECT_RESPONSE => respond(&mut news),
            RDMA_CM_EVENT_ESTABLISHED if news.peer.is_some() => {
                Identifier::inner(news.about.cast())
                    .peer
                    .clone_from(&news.peer);
            }
            _ => {}
        }
        let joined = match news.event {
            RDMA_CM_EVENT_MULTICAST_JOIN => Some(membership::joined(&mut news)?),
            _ => None,
        };
        let mut event = Event::new(&news, holder);
        event.abi.listen_id = listener;
        if let Some(joined) = joined {
            event.abi.param.ud = joined;
        } else if let Some(peer) = &news.peer {
            if (*event.abi.id).qp_type == IBV_QPT_UD {
                event.abi.param.ud = datagram_param(&event, peer);
            } else {
                event.abi.param.conn = conn_param(&event, peer);
            }
        }
        Identifier::hold(holder);
        Some(event)
    }
}

/// # Safety
/// The event is about an identifier of ours.
unsafe fn datagram_param(event: &Event, peer: &Message) -> rdma_ud_param {
    let (private_data, private_data_len) = event.private_data(peer);
    // SAFETY: the caller's promise.
    let ah_attr = unsafe { queue_pair::address_vector(&Identifier::inner(event.abi.id)) };
    rdma_ud_param {
        private_data,
        private_data_len,
        ah_attr: ah_attr.unwrap_or_default(),
        qp_num: peer.qp_num,
        qkey: peer.qkey,
    }
}

/// A new identifier for a connection that has come in; `None` when it is gone already.
///
/// # Safety
/// `listener` is one of ours.
unsafe fn arrival(listener: *mut rdma_cm_id, news: &News) -> Option<*mut rdma_cm_id> {
    // SAFETY: the caller's promise.
    unsafe {
        let sockets = sockets().ok()?;
        let (channel, context) = ((*listener).channel, (*listener).context);
        let id = identifier::create(channel, context, (*listener).ps).ok()?;
        let Some((local, remote)) = sockets.adopt(news.token, owner(id)) else {
            sockets.forget(news.token);
            identifier::rdma_destroy_id(id);
            return None;
        };
        (*id).route.addr.src = address::write(local).0;
        (*id).route.addr.dst = address::write(remote).0;
        {
            let mut inner = Identifier::inner(id);
            inner.token = Some(news.token);
            inner.peer.clone_from(&news.peer);
            // Without a device there would be no listener.
            if let Ok(device) = devices().and_then(|devices| devices.towards(local.ip())) {
                let _ = attach(id, &mut inner, device);
            }
            if let Some(peer) = &inner.peer {
                (*id).route.addr.ib.dgid.raw = peer.gid;
            }
        }
        // It has a device and a peer, so it has a route.
        let _ = set_route(id);
        Some(id)
    }
}

/// The reply is there: with a queue pair of the identifier's, the connection is established here.
///
/// # Safety
/// The news are about an identifier of ours.
unsafe fn respond(news: &mut News) {
    // SAFETY: the caller's promise.
    unsafe {
        let id: *mut rdma_cm_id = news.about.cast();
        let mut inner = Identifier::inner(id);
        inner.peer.clone_from(&news.peer);
        if (*id).qp.is_null() {
            return;
        }
        let established = queue_pair::ready(id, &inner).and_then(|()| {
            let ready = Message::bare(MessageKind::Ready);
            sockets()?.say(news.token, &[Stage::Answered], &ready, Stage::Established)
        });
        match established {
            Ok(()) => news.event = RDMA_CM_EVENT_ESTABLISHED,
            Err(errno) => {
                news.event = RDMA_CM_EVENT_CONNECT_ERROR;
                news.status = -errno.0;
                if let Ok(sockets) = sockets() {
                    sockets.forget(news.token);
                }
            }
        }
    }
}
