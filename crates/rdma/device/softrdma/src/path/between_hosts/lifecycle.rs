//! Connections between hosts come and go with the states of their queue pairs.

use std::net::Ipv4Addr;

use weft_roce::{Connection, Path, RequesterConfig, ResponderConfig, Service};
use weft_verbs_abi::*;

use super::targets;
use crate::call::{Errno, Result};
use crate::path::adapter::Adapter;
use crate::path::clock;
use crate::path::port::wait_for_delayed;
use crate::path::queue_pair::QueuePair;
use crate::path::remote_connection::RemoteConnectionState;
use crate::path::state::QpKind;

fn responder(settings: &ibv_qp_attr, window: u64) -> ResponderConfig {
    let has = |access: u32| settings.qp_access_flags & access != 0;
    ResponderConfig {
        psn: settings.rq_psn,
        max_dest_rd_atomic: settings.max_dest_rd_atomic,
        min_rnr_timer: settings.min_rnr_timer,
        window,
        write: has(IBV_ACCESS_REMOTE_WRITE),
        read: has(IBV_ACCESS_REMOTE_READ),
        atomic: has(IBV_ACCESS_REMOTE_ATOMIC),
    }
}

/// The state RTR: the peer is at `remote`.
pub fn open_connection(
    adapter: &Adapter,
    qp: &'static QueuePair,
    settings: &ibv_qp_attr,
    remote: Ipv4Addr,
) -> Result {
    let process = qp.process;
    let port = process.open_port().ok_or(Errno::ENODEV)?;
    let asked = 128 << settings.path_mtu;
    let path = Path {
        local: process.config.ip,
        remote,
        port: process.config.udp_port,
        remote_qpn: settings.dest_qp_num,
        mtu: port.active_mtu().map_or(asked, |mtu| asked.min(mtu)),
    };
    let responder = responder(settings, port.window(path.mtu));
    let (service, responder) = match qp.kind {
        QpKind::Rc => (Service::Reliable, Some(responder)),
        QpKind::Uc => (Service::Unreliable, Some(responder)),
        QpKind::XrcSend => (Service::ExtendedReliable, None),
        QpKind::XrcRecv => {
            targets::open(qp, settings, &path)?;
            process.agent().wake();
            return Ok(());
        }
        QpKind::Ud => return Err(Errno::EINVAL),
    };
    qp.remote_connection.state().connection = Some(Connection::new(service, path, responder));
    adapter.agent().state().ports.enter(qp);
    process.agent().wake();
    Ok(())
}

/// The state RTS.
pub fn start_requester(qp: &'static QueuePair, settings: &ibv_qp_attr) {
    if let Some(connection) = &mut qp.remote_connection.state().connection
        && let Some(port) = qp.process.port()
    {
        connection.start_requester(RequesterConfig {
            psn: settings.sq_psn,
            timeout: settings.timeout,
            retry_count: settings.retry_cnt,
            rnr_retry: settings.rnr_retry,
            max_rd_atomic: settings.max_rd_atomic,
            window: port.window(connection.mtu()),
            selective: true,
        });
    }
}

/// The error state: what the protocol has is flushed.
pub fn connection_failed(qp: &'static QueuePair) {
    if qp.kind == QpKind::XrcRecv {
        return targets::close(qp);
    }
    let mut state = qp.remote_connection.state();
    state.call(qp, |connection, host| connection.flush(host));
    state.pump(qp, clock::monotonic_ns());
}

/// An XRC target that this process closes: it may be the last that has it.
pub fn send_last_of_target(qp: &'static QueuePair) {
    if let Some(port) = qp.process.port() {
        targets::part(qp, port);
        wait_for_delayed(port);
    }
}

/// The state RESET, or the end: nothing more is heard of what the protocol had.
pub fn close_connection(adapter: &Adapter, qp: &'static QueuePair) {
    if qp.kind == QpKind::XrcRecv {
        return targets::close(qp);
    }
    let mut state = qp.remote_connection.state();
    state.part(qp);
    *state = RemoteConnectionState::default();
    drop(state);
    if let Some(port) = qp.process.port() {
        wait_for_delayed(port);
    }
    if let Some(agent) = adapter.agent_if_started() {
        agent.state().ports.forget(qp);
    }
}
