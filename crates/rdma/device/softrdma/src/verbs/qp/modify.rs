//! Modifying a queue pair (ibv_modify_qp(3)).

use std::ffi::c_int;
use std::sync::atomic::{AtomicU16, Ordering};

use weft_verbs_abi::*;

use super::object::Qp;
use super::transition::{is_allowed, relevant};
use crate::call::{Errno, Result, code, require};
use crate::fabric::QpRecord;
use crate::fabric::record::queue_pair::Sender;
use crate::identity::{self, Host, PKEYS};
use crate::path::between_hosts::lifecycle::{
    close_connection, connection_failed, open_connection, start_requester,
};
use crate::path::queue_pair::QueuePair;
use crate::path::state::{QpKind, State};
use crate::verbs::ah;
use crate::verbs::limits::{ACTIVE_MTU, MAX_RD_ATOMIC, PORT};

/// # Safety
/// `qp` is a queue pair of this device, `attributes` readable.
pub unsafe extern "C" fn ibv_modify_qp(
    qp: *mut ibv_qp,
    attributes: *mut ibv_qp_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let (this, attributes) = unsafe { (Qp::from_abi(qp), &*attributes) };
    code(modify(this, attributes, mask).map(|state| {
        // SAFETY: the application modifies a queue pair from one thread at a time.
        unsafe { (*qp).state = state as u32 };
    }))
}

fn modify(object: &'static Qp, attributes: &ibv_qp_attr, mask: c_int) -> Result<State> {
    let qp = &object.inner;
    let mask = relevant(qp.kind, mask);
    let mut stored = qp.attributes();
    let record = qp.record();
    let current = State::from_abi(record.state.load(Ordering::Acquire)).ok_or(Errno::EINVAL)?;
    let has = |attribute: c_int| mask & attribute != 0;
    if has(IBV_QP_CUR_STATE) {
        // A program may be behind by an error that it has not seen, which is none to fail it for.
        let claimed = attributes.cur_qp_state;
        require(
            claimed == current as u32 || current == State::Sqe,
            Errno::EINVAL,
        )?;
    }
    let next = match has(IBV_QP_STATE) {
        true => State::from_abi(attributes.qp_state).ok_or(Errno::EINVAL)?,
        false => current,
    };
    require(is_allowed(qp.kind, current, next, mask), Errno::EINVAL)?;
    check(object, attributes, mask)?;
    merge(&mut stored, attributes, mask);
    publish(record, &stored, mask);
    if has(IBV_QP_EN_SQD_ASYNC_NOTIFY) {
        let wanted = attributes.en_sqd_async_notify != 0;
        qp.drain_event.store(wanted, Ordering::Release);
    }
    if next == State::Reset {
        *stored = ibv_qp_attr::default();
    }
    let settings = *stored;
    // Failures look at the attributes, too.
    drop(stored);
    enter(object, &settings, current, next, mask)?;
    Ok(next)
}

/// Whether the values can be.
fn check(qp: &Qp, attributes: &ibv_qp_attr, mask: c_int) -> Result {
    let unless =
        |attribute: c_int, valid: bool| require(mask & attribute == 0 || valid, Errno::EINVAL);
    unless(IBV_QP_PORT, attributes.port_num == PORT)?;
    unless(IBV_QP_PKEY_INDEX, attributes.pkey_index < PKEYS)?;
    let mtu = IBV_MTU_256..=ACTIVE_MTU;
    unless(IBV_QP_PATH_MTU, mtu.contains(&attributes.path_mtu))?;
    unless(IBV_QP_TIMEOUT, attributes.timeout < 32)?;
    unless(IBV_QP_RETRY_CNT, attributes.retry_cnt < 8)?;
    unless(IBV_QP_RNR_RETRY, attributes.rnr_retry < 8)?;
    unless(IBV_QP_MIN_RNR_TIMER, attributes.min_rnr_timer < 32)?;
    unless(IBV_QP_DEST_QPN, attributes.dest_qp_num < 1 << 24)?;
    unless(
        IBV_QP_MAX_QP_RD_ATOMIC,
        attributes.max_rd_atomic <= MAX_RD_ATOMIC,
    )?;
    unless(
        IBV_QP_MAX_DEST_RD_ATOMIC,
        attributes.max_dest_rd_atomic <= MAX_RD_ATOMIC,
    )?;
    // There is one port and no second path.
    unless(IBV_QP_ALT_PATH, false)?;
    if mask & IBV_QP_AV != 0 {
        ah::check(qp.context.device, &attributes.ah_attr)?;
    }
    Ok(())
}

/// Takes over what the mask names.
fn merge(stored: &mut ibv_qp_attr, new: &ibv_qp_attr, mask: c_int) {
    const PSN: u32 = (1 << 24) - 1;
    macro_rules! take {
        ($($attribute:ident => $($field:ident),+;)*) => {
            $(if mask & $attribute != 0 { $(stored.$field = new.$field;)+ })*
        };
    }
    take! {
        IBV_QP_ACCESS_FLAGS => qp_access_flags;
        IBV_QP_PKEY_INDEX => pkey_index;
        IBV_QP_PORT => port_num;
        IBV_QP_QKEY => qkey;
        IBV_QP_AV => ah_attr;
        IBV_QP_PATH_MTU => path_mtu;
        IBV_QP_TIMEOUT => timeout;
        IBV_QP_RETRY_CNT => retry_cnt;
        IBV_QP_RNR_RETRY => rnr_retry;
        IBV_QP_RQ_PSN => rq_psn;
        IBV_QP_SQ_PSN => sq_psn;
        IBV_QP_MAX_QP_RD_ATOMIC => max_rd_atomic;
        IBV_QP_MAX_DEST_RD_ATOMIC => max_dest_rd_atomic;
        IBV_QP_MIN_RNR_TIMER => min_rnr_timer;
        IBV_QP_DEST_QPN => dest_qp_num;
        IBV_QP_PATH_MIG_STATE => path_mig_state;
        IBV_QP_EN_SQD_ASYNC_NOTIFY => en_sqd_async_notify;
    }
    stored.rq_psn &= PSN;
    stored.sq_psn &= PSN;
}

/// Shows peers what concerns them.
fn publish(record: &QpRecord, stored: &ibv_qp_attr, mask: c_int) {
    let has = |attribute: c_int| mask & attribute != 0;
    if has(IBV_QP_ACCESS_FLAGS) {
        record
            .access
            .store(stored.qp_access_flags, Ordering::Relaxed);
    }
    if has(IBV_QP_PORT) {
        record
            .port
            .store(u32::from(stored.port_num), Ordering::Relaxed);
    }
    if has(IBV_QP_QKEY) {
        record.qkey.store(stored.qkey, Ordering::Relaxed);
    }
    if has(IBV_QP_DEST_QPN) {
        record.dest_qpn.store(stored.dest_qp_num, Ordering::Relaxed);
    }
    if has(IBV_QP_MIN_RNR_TIMER) {
        let timer = u32::from(stored.min_rnr_timer);
        record.min_rnr_timer.store(timer, Ordering::Relaxed);
    }
    if has(IBV_QP_MAX_DEST_RD_ATOMIC) {
        let most = u32::from(stored.max_dest_rd_atomic);
        record.max_dest_rd_atomic.store(most, Ordering::Relaxed);
    }
    if has(IBV_QP_PATH_MTU) {
        record
            .path_mtu
            .store(128 << stored.path_mtu, Ordering::Relaxed);
    }
}

/// Does what the new state brings with it.
fn enter(
    object: &'static Qp,
    settings: &ibv_qp_attr,
    from: State,
    to: State,
    mask: c_int,
) -> Result {
    let qp = &object.inner;
    let record = qp.record();
    let process = qp.process;
    let show = || record.state.store(to as u32, Ordering::SeqCst);
    match (from, to) {
        (_, State::Reset) => {
            show();
            reset(object);
        }
        (_, State::Err) => {
            show();
            connection_failed(qp);
            qp.after_failure(None);
            qp.drain();
        }
        (State::Init, State::Rtr) => {
            // A target must hear of its peers' errors.
            process.agent();
            connect(object, settings)?;
            record
                .sender
                .store(expected_sender(qp, settings).word(), Ordering::Relaxed);
            show();
        }
        (State::Rtr, State::Rts) => {
            start_requester(qp, settings);
            qp.set_sender_word(own_sender(qp, settings).word());
            show();
        }
        (_, State::Rts) => {
            show();
            qp.backlog.hurry();
            process.agent().wake();
        }
        (State::Rts, State::Sqd) => {
            show();
            if qp.backlog.is_empty() {
                qp.backlog_is_done();
            }
        }
        _ if mask & IBV_QP_STATE != 0 => show(),
        _ => {}
    }
    Ok(())
}

fn reset(object: &'static Qp) {
    let qp = &object.inner;
    qp.drain();
    qp.clear();
    close_connection(object.context.adapter, qp);
    let record = qp.record();
    record.access.store(0, Ordering::Relaxed);
    record.dest_qpn.store(0, Ordering::Relaxed);
    record.sender.store(0, Ordering::Relaxed);
    record.qkey.store(0, Ordering::Relaxed);
    record.msn.store(0, Ordering::Relaxed);
    record.failure.store(0, Ordering::Relaxed);
    // SAFETY: nothing is deferred, and the application posts nothing while it resets.
    unsafe { qp.restart() };
}

/// The PSN that a connection begins with. An unreliable responder takes that of the first packet (InfiniBand Architecture 1.6,
/// §9.8.2).
fn initial_psn(qp: &QueuePair, psn: u32) -> u32 {
    if qp.kind.is_reliable() { psn } else { 0 }
}

fn expected_sender(qp: &QueuePair, settings: &ibv_qp_attr) -> Sender {
    Sender {
        qpn: settings.dest_qp_num,
        psn: initial_psn(qp, settings.rq_psn),
        session: 0,
    }
}

fn own_sender(qp: &QueuePair, settings: &ibv_qp_attr) -> Sender {
    static SESSIONS: AtomicU16 = AtomicU16::new(0);
    // An unreliable sender may begin anew; its peer goes on hearing it.
    let session = match qp.kind.is_reliable() {
        true => SESSIONS.fetch_add(1, Ordering::Relaxed) % u16::MAX + 1,
        false => 0,
    };
    Sender {
        qpn: qp.number.bits(),
        psn: initial_psn(qp, settings.sq_psn),
        session,
    }
}

/// Finds out where the peer is.
fn connect(object: &'static Qp, settings: &ibv_qp_attr) -> Result {
    let qp = &object.inner;
    if qp.kind == QpKind::Ud {
        qp.process.receive_from_hosts();
        return Ok(());
    }
    let config = object.context.device.config;
    let host = identity::host_of_address(config, &settings.ah_attr);
    qp.set_remote(host != Host::Own);
    match host {
        Host::At(remote) => open_connection(object.context.adapter, qp, settings, remote),
        Host::Own | Host::Nowhere => Ok(()),
    }
}
