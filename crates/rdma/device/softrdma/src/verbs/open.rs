//! Opening and closing a device (ibv_open_device(3)), and the tables of functions behind the inline calls.

use std::ffi::c_int;
use std::fs::File;
use std::os::fd::AsRawFd;

use weft_kernel::above_standard;
use weft_verbs_abi::*;

use super::context::{COMPLETION_VECTORS, Context, inject_fault};
use super::device::Device;
use super::limits::PORT;
use super::{attributes, cq, domain, mr, mw, port, post, qp, srq, xrcd};
use crate::call::{Errno, Result, pointer};
use crate::fault::Call;
use crate::path::adapter::Adapter;
use crate::path::event::AsyncEvents;
use crate::uar;
use crate::users::UseCount;

fn open(device: &'static Device) -> Result<*mut ibv_context> {
    inject_fault(device, Call::OpenDevice)?;
    let adapter = Adapter::current(device.config)?;
    let process = adapter.process;
    let settings = uar::Settings::from_environment().map_err(told)?;
    let pool = process.uar_pages(device.index, settings.reserve_pages);
    let ledger = process.ledger.clone();
    let uar = uar::Context::open(settings, device.index as u8, pool, ledger).map_err(told)?;
    let context = Box::leak(Box::new(Context {
        abi: verbs_context::default(),
        device,
        adapter,
        process,
        uar,
        events: AsyncEvents::new()?.into(),
        command: above_standard(|| File::open("/dev/null"))?.into(),
        users: UseCount::default(),
    }));
    process.links.open((device.index, PORT), &context.events);
    fill(&mut context.abi, device);
    context.abi.context.async_fd = context.events.descriptor();
    context.abi.context.cmd_fd = context.command.as_raw_fd();
    Ok(context.as_abi())
}

/// Why a context could not be had is told on stderr: a number alone says too little of a setting.
fn told(error: uar::Error) -> Errno {
    eprintln!("softrdma: {error}");
    Errno::from(error)
}

fn fill(abi: &mut verbs_context, device: &'static Device) {
    abi.sz = size_of::<verbs_context>();
    abi.query_port = Some(port::query_port);
    abi.query_device_ex = Some(attributes::query_device_ex);
    abi.query_rt_values = Some(attributes::query_rt_values);
    abi.alloc_td = Some(domain::alloc_td);
    abi.dealloc_td = Some(domain::dealloc_td);
    abi.alloc_parent_domain = Some(domain::alloc_parent_domain);
    abi.alloc_null_mr = Some(mr::alloc_null_mr);
    abi.advise_mr = Some(mr::advise_mr);
    abi.reg_mr_ex = Some(mr::reg_mr_ex);
    abi.create_cq_ex = Some(cq::create_cq_ex);
    abi.modify_cq = Some(cq::modify_cq);
    abi.create_qp_ex = Some(qp::create_qp_ex);
    abi.open_qp = Some(qp::open_qp);
    abi.create_srq_ex = Some(srq::create_srq_ex);
    abi.get_srq_num = Some(srq::get_srq_num);
    abi.open_xrcd = Some(xrcd::open_xrcd);
    abi.close_xrcd = Some(xrcd::close_xrcd);
    let context = &mut abi.context;
    context.device = device.as_abi();
    context.num_comp_vectors = COMPLETION_VECTORS;
    context.abi_compat = VERBS_ABI_IS_EXTENDED;
    context.ops.alloc_mw = Some(mw::alloc_mw);
    context.ops.bind_mw = Some(mw::bind_mw);
    context.ops.dealloc_mw = Some(mw::dealloc_mw);
    context.ops.poll_cq = Some(cq::poll_cq);
    context.ops.req_notify_cq = Some(cq::req_notify_cq);
    context.ops.post_srq_recv = Some(srq::post_srq_recv);
    context.ops.post_send = Some(post::post_send);
    context.ops.post_recv = Some(qp::post_recv);
    // SAFETY: writable and where it stays.
    unsafe { libc::pthread_mutex_init(&mut context.mutex, std::ptr::null()) };
}

/// # Safety
/// `device` came from the list of devices.
pub unsafe extern "C" fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context {
    // SAFETY: the caller's promise.
    pointer(open(unsafe { Device::from_abi(device) }))
}

/// What is still there of the context's objects stays, as long as the process does.
///
/// # Safety
/// `context` came from [`ibv_open_device`] and is closed once.
pub unsafe extern "C" fn ibv_close_device(context: *mut ibv_context) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Context::from_abi(context) };
    if this.users.none() {
        this.process.links.close(this.device.index, &this.events);
        // SAFETY: it was leaked from a box by `open`, and nothing of it is left.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(this).cast_mut()) });
    }
    0
}
