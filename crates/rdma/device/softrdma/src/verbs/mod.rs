//! The verbs: one function for each call of libibverbs, with its C signature, named as it is. Those without the prefix `ibv_` stand
//! behind inline calls and are reached through the tables of the context.
//!
//! Each object begins with its public structure, so a pointer to one is a pointer to the other, and stands on those that it was
//! made from ([`users`](crate::users)): they cannot be destroyed before it.

mod account;
pub mod acknowledgement;
mod ah;
mod async_event;
pub mod attributes;
mod buffer;
mod channel;
mod context;
mod cq;
pub mod device;
mod domain;
mod ece;
mod limits;
mod mr;
mod multicast;
mod mw;
mod open;
mod port;
mod post;
mod qp;
mod receive_list;
mod srq;
mod xrcd;

#[cfg(test)]
mod tests;

pub use account::softrdma_context_stat;
pub use ah::{ibv_create_ah, ibv_create_ah_from_wc, ibv_destroy_ah, ibv_init_ah_from_wc};
pub use async_event::{ibv_ack_async_event, ibv_get_async_event};
pub use attributes::ibv_query_device;
pub use buffer::{ibv_alloc_buf, ibv_free_buf};
pub use channel::{ibv_create_comp_channel, ibv_destroy_comp_channel};
pub use cq::{ibv_ack_cq_events, ibv_create_cq, ibv_destroy_cq, ibv_get_cq_event, ibv_resize_cq};
pub use device::{
    Device, devices, ibv_free_device_list, ibv_get_device_guid, ibv_get_device_index,
    ibv_get_device_list, ibv_get_device_name,
};
pub use domain::{ibv_alloc_pd, ibv_dealloc_pd};
pub use ece::{ibv_query_ece, ibv_set_ece};
pub use mr::{
    ibv_dereg_mr, ibv_reg_buf_mr, ibv_reg_dmabuf_mr, ibv_reg_mr, ibv_reg_mr_iova, ibv_reg_mr_iova2,
    ibv_rereg_mr, reg_mr_ex as ibv_reg_mr_ex,
};
pub use multicast::{ibv_attach_mcast, ibv_detach_mcast};
pub use open::{ibv_close_device, ibv_open_device};
pub use port::{
    _ibv_query_gid_ex, _ibv_query_gid_table, ibv_get_pkey_index, ibv_query_gid, ibv_query_gid_type,
    ibv_query_pkey, ibv_query_port,
};
pub use qp::{
    ibv_create_qp, ibv_destroy_qp, ibv_modify_qp, ibv_qp_to_qp_ex, ibv_query_qp,
    ibv_query_qp_data_in_order,
};
pub use srq::{ibv_create_srq, ibv_destroy_srq, ibv_modify_srq, ibv_query_srq};

/// An application's list, which is null where it is empty.
///
/// # Safety
/// `list` is readable for `count` while the result is used, unless that is 0.
#[inline]
pub unsafe fn readable<'a, T>(list: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, count) }
}
