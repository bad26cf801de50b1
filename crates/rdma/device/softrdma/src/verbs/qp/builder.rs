//! The extended interface for sending: work requests are built by calls and posted together, all or none
//! (ibv_wr_post(3)).
//!
//! # Protocol
//! `wr_start` enters the send queue and keeps it entered; `wr_complete` and `wr_abort` leave it. In between the builder
//! belongs to the thread that started, as the send queue does. An error is remembered, and answered by `wr_complete`.

use std::ffi::{c_int, c_void};

use weft_verbs_abi::*;

use super::object::{Builder, Item, Qp, Range};
use crate::call::{self, Errno, readable};
use crate::path::combined::submit_all;
use crate::path::post;
use crate::path::queue_pair::QueuePair;
use crate::path::request::{Datagram, Operation, Payload, Request, Target};
use crate::path::state::QpKind;
use crate::uar::WorkRequest;
use crate::verbs::ah::Ah;
use crate::verbs::mw::binding;

impl Builder {
    fn clear(&mut self) {
        self.items.clear();
        self.sges.clear();
        self.bytes.clear();
        self.error = None;
    }

    fn add(&mut self, request: Request) {
        let payload = Range::Elements { first: 0, count: 0 };
        self.items.push(Item { request, payload });
    }

    fn refuse(&mut self, errno: Errno) {
        self.error.get_or_insert(errno);
    }

    /// The request that setters are about.
    fn last(&mut self) -> Option<&mut Item> {
        if self.items.is_empty() {
            self.refuse(Errno::EINVAL);
        }
        self.items.last_mut()
    }

    fn set_elements(&mut self, elements: &[ibv_sge], most: usize) {
        if elements.len() > most {
            return self.refuse(Errno::EINVAL);
        }
        let payload = Range::Elements {
            first: self.sges.len(),
            count: elements.len(),
        };
        self.sges.extend_from_slice(elements);
        if let Some(item) = self.last() {
            item.payload = payload;
        }
    }

    /// # Safety
    /// Each buffer is readable.
    unsafe fn set_inline(
        &mut self,
        buffers: impl Iterator<Item = (*const u8, usize)>,
        most: usize,
    ) {
        let first = self.bytes.len();
        for (address, length) in buffers {
            if self.bytes.len() - first + length > most {
                return self.refuse(Errno::EINVAL);
            }
            // SAFETY: the caller's promise.
            let buffer = unsafe { readable(address, length) };
            self.bytes.extend_from_slice(buffer);
        }
        let count = self.bytes.len() - first;
        if let Some(item) = self.last() {
            item.request.flags |= IBV_SEND_INLINE;
            item.payload = Range::Inline { first, count };
        }
    }
}

/// The queue pair and its builder.
///
/// # Safety
/// `qp` is an extended queue pair between `wr_start` and `wr_complete`, on the thread that started (or it is starting).
unsafe fn building(qp: *mut ibv_qp_ex) -> (&'static QueuePair, &'static mut Builder) {
    // SAFETY: the caller's promise: nobody else is at the builder.
    unsafe {
        let qp = Qp::from_abi(qp.cast());
        (&qp.inner, &mut *qp.builder.get())
    }
}

/// Begins a work request with the identifier and the flags that the application has set.
///
/// # Safety
/// As of [`building`].
unsafe fn begin(qp: *mut ibv_qp_ex, operation: Operation, immediate: u32, target: Target) {
    // SAFETY: the caller's promise.
    unsafe {
        let (wr_id, flags) = ((*qp).wr_id, (*qp).wr_flags);
        let (this, builder) = building(qp);
        if !operation.exists_in(this.kind) {
            return builder.refuse(Errno::EINVAL);
        }
        builder.add(Request {
            wr_id,
            operation,
            flags: flags & !IBV_SEND_INLINE,
            immediate,
            remote_srqn: 0,
            target,
            index: 0,
        });
    }
}

unsafe extern "C" fn wr_start(qp: *mut ibv_qp_ex) {
    // SAFETY: entering the send queue makes the builder this thread's; nothing of it is touched before.
    unsafe {
        let this = &Qp::from_abi(qp.cast()).inner;
        let sending = this.sender().enter_send();
        let (_, builder) = building(qp);
        builder.clear();
        builder.sending = Some(sending);
    }
}

unsafe extern "C" fn wr_complete(qp: *mut ibv_qp_ex) -> c_int {
    // SAFETY: called by the thread that started.
    let (this, builder) = unsafe { building(qp) };
    let Builder {
        sending,
        items,
        sges,
        bytes,
        error,
    } = builder;
    let Some(sending) = sending.take() else {
        return call::code(Err(Errno::EINVAL));
    };
    if let Some(errno) = error.take() {
        return call::code(Err(errno));
    }
    let places = items.len() as u32;
    let payload_of = |payload: Range| match payload {
        Range::Elements { first, count } => Payload::Elements(&sges[first..first + count]),
        Range::Inline { first, count } => Payload::Inline(&bytes[first..first + count]),
    };
    for item in items.iter() {
        if let Err(errno) = post::check(this, &item.request, &payload_of(item.payload), places) {
            return call::code(Err(errno));
        }
    }
    let last = items.last().map_or_else(WorkRequest::default, |last| {
        post::work_request(this.kind, &last.request, &payload_of(last.payload))
    });
    match items.as_mut_slice() {
        [only] => post::submit(this, &mut only.request, payload_of(only.payload)),
        several => {
            let requests = several.iter_mut();
            let requests = requests.map(|item| (&mut item.request, payload_of(item.payload)));
            submit_all(this, requests);
        }
    }
    sending.ring(places, &last);
    0
}

unsafe extern "C" fn wr_abort(qp: *mut ibv_qp_ex) {
    // SAFETY: called by the thread that started.
    let (_, builder) = unsafe { building(qp) };
    builder.clear();
    builder.sending = None;
}

unsafe extern "C" fn wr_send(qp: *mut ibv_qp_ex) {
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::Send, 0, Target::None) };
}

unsafe extern "C" fn wr_send_imm(qp: *mut ibv_qp_ex, immediate: u32) {
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::SendWithImmediate, immediate, Target::None) };
}

unsafe extern "C" fn wr_send_inv(qp: *mut ibv_qp_ex, rkey: u32) {
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::SendWithInvalidate, rkey, Target::None) };
}

unsafe extern "C" fn wr_local_inv(qp: *mut ibv_qp_ex, rkey: u32) {
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::LocalInvalidate, rkey, Target::None) };
}

unsafe extern "C" fn wr_rdma_write(qp: *mut ibv_qp_ex, rkey: u32, address: u64) {
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::Write, 0, Target::Memory { address, rkey }) };
}

unsafe extern "C" fn wr_rdma_write_imm(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    address: u64,
    immediate: u32,
) {
    let target = Target::Memory { address, rkey };
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::WriteWithImmediate, immediate, target) };
}

unsafe extern "C" fn wr_rdma_read(qp: *mut ibv_qp_ex, rkey: u32, address: u64) {
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::Read, 0, Target::Memory { address, rkey }) };
}

unsafe extern "C" fn wr_atomic_cmp_swp(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    address: u64,
    compare: u64,
    swap: u64,
) {
    let target = Target::Atomic {
        address,
        rkey,
        operand: compare,
        swap,
    };
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::CompareAndSwap, 0, target) };
}

unsafe extern "C" fn wr_atomic_fetch_add(qp: *mut ibv_qp_ex, rkey: u32, address: u64, add: u64) {
    let target = Target::Atomic {
        address,
        rkey,
        operand: add,
        swap: 0,
    };
    // SAFETY: called between start and completion.
    unsafe { begin(qp, Operation::FetchAndAdd, 0, target) };
}

unsafe extern "C" fn wr_bind_mw(
    qp: *mut ibv_qp_ex,
    mw: *mut ibv_mw,
    rkey: u32,
    info: *const ibv_mw_bind_info,
) {
    // SAFETY: called between start and completion, with readable information.
    unsafe {
        let target = Target::Binding(binding(mw, rkey, &*info));
        begin(qp, Operation::BindWindow, 0, target);
    }
}

unsafe extern "C" fn wr_set_ud_addr(
    qp: *mut ibv_qp_ex,
    ah: *mut ibv_ah,
    remote_qpn: u32,
    remote_qkey: u32,
) {
    // SAFETY: called between start and completion.
    let (_, builder) = unsafe { building(qp) };
    if let Some(item) = builder.last() {
        item.request.target = Target::Datagram(Datagram {
            // SAFETY: null, or an address handle that stays until the request has ended.
            vector: unsafe { Ah::vector(ah) },
            remote_qpn,
            remote_qkey,
        });
    }
}

unsafe extern "C" fn wr_set_xrc_srqn(qp: *mut ibv_qp_ex, remote_srqn: u32) {
    // SAFETY: called between start and completion.
    let (_, builder) = unsafe { building(qp) };
    if let Some(item) = builder.last() {
        item.request.remote_srqn = remote_srqn;
    }
}

unsafe extern "C" fn wr_set_sge(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32) {
    // SAFETY: called between start and completion.
    let (this, builder) = unsafe { building(qp) };
    let element = ibv_sge { addr, length, lkey };
    builder.set_elements(&[element], this.caps.max_send_sge as usize);
}

unsafe extern "C" fn wr_set_sge_list(qp: *mut ibv_qp_ex, count: usize, list: *const ibv_sge) {
    // SAFETY: called between start and completion, with a readable list.
    unsafe {
        let (this, builder) = building(qp);
        builder.set_elements(readable(list, count), this.caps.max_send_sge as usize);
    }
}

unsafe extern "C" fn wr_set_inline_data(qp: *mut ibv_qp_ex, address: *mut c_void, length: usize) {
    // SAFETY: called between start and completion, with readable data.
    unsafe {
        let (this, builder) = building(qp);
        let buffer = std::iter::once((address.cast_const().cast(), length));
        builder.set_inline(buffer, this.caps.max_inline_data as usize);
    }
}

unsafe extern "C" fn wr_set_inline_data_list(
    qp: *mut ibv_qp_ex,
    count: usize,
    list: *const ibv_data_buf,
) {
    // SAFETY: called between start and completion, with readable data.
    unsafe {
        let (this, builder) = building(qp);
        let list = readable(list, count);
        let buffers = list
            .iter()
            .map(|buffer| (buffer.addr.cast_const().cast(), buffer.length));
        builder.set_inline(buffers, this.caps.max_inline_data as usize);
    }
}

/// The operations that a queue pair of this kind can be asked to have.
pub fn supported(kind: QpKind) -> ibv_qp_create_send_ops_flags {
    const FLAGS: [(ibv_qp_create_send_ops_flags, Operation); 10] = [
        (IBV_QP_EX_WITH_RDMA_WRITE, Operation::Write),
        (
            IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
            Operation::WriteWithImmediate,
        ),
        (IBV_QP_EX_WITH_SEND, Operation::Send),
        (IBV_QP_EX_WITH_SEND_WITH_IMM, Operation::SendWithImmediate),
        (IBV_QP_EX_WITH_RDMA_READ, Operation::Read),
        (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, Operation::CompareAndSwap),
        (IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, Operation::FetchAndAdd),
        (IBV_QP_EX_WITH_LOCAL_INV, Operation::LocalInvalidate),
        (IBV_QP_EX_WITH_BIND_MW, Operation::BindWindow),
        (IBV_QP_EX_WITH_SEND_WITH_INV, Operation::SendWithInvalidate),
    ];
    let exist = FLAGS
        .into_iter()
        .filter(|(_, operation)| operation.exists_in(kind));
    exist.fold(0, |flags, (flag, _)| flags | flag)
}

/// Fills in the functions of the operations in `flags`, and those that all need.
pub fn install(qp: &mut ibv_qp_ex, flags: ibv_qp_create_send_ops_flags) {
    let has = |flag| flags & flag != 0;
    qp.wr_start = Some(wr_start);
    qp.wr_complete = Some(wr_complete);
    qp.wr_abort = Some(wr_abort);
    qp.wr_set_sge = Some(wr_set_sge);
    qp.wr_set_sge_list = Some(wr_set_sge_list);
    qp.wr_set_inline_data = Some(wr_set_inline_data);
    qp.wr_set_inline_data_list = Some(wr_set_inline_data_list);
    qp.wr_set_ud_addr = Some(wr_set_ud_addr);
    qp.wr_set_xrc_srqn = Some(wr_set_xrc_srqn);
    qp.wr_rdma_write = has(IBV_QP_EX_WITH_RDMA_WRITE).then_some(wr_rdma_write as _);
    qp.wr_rdma_write_imm =
        has(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM).then_some(wr_rdma_write_imm as _);
    qp.wr_send = has(IBV_QP_EX_WITH_SEND).then_some(wr_send as _);
    qp.wr_send_imm = has(IBV_QP_EX_WITH_SEND_WITH_IMM).then_some(wr_send_imm as _);
    qp.wr_rdma_read = has(IBV_QP_EX_WITH_RDMA_READ).then_some(wr_rdma_read as _);
    qp.wr_atomic_cmp_swp = has(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP).then_some(wr_atomic_cmp_swp as _);
    qp.wr_atomic_fetch_add =
        has(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD).then_some(wr_atomic_fetch_add as _);
    qp.wr_local_inv = has(IBV_QP_EX_WITH_LOCAL_INV).then_some(wr_local_inv as _);
    qp.wr_bind_mw = has(IBV_QP_EX_WITH_BIND_MW).then_some(wr_bind_mw as _);
    qp.wr_send_inv = has(IBV_QP_EX_WITH_SEND_WITH_INV).then_some(wr_send_inv as _);
}

/// The extended view of a queue pair; null for one that was made without send operations.
///
/// # Safety
/// `qp` is a queue pair of this device.
pub unsafe extern "C" fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex {
    // SAFETY: the caller's promise.
    let extended = unsafe { Qp::from_abi(qp) }.is_extended;
    if extended {
        qp.cast()
    } else {
        std::ptr::null_mut()
    }
}
