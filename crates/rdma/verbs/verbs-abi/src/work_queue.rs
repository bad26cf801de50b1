//! Work queues outside of queue pairs, and the indirection tables that spread packets over them.

use core::ffi::{c_int, c_void};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::macros::{enumeration, zeroed};
use crate::{ibv_context, ibv_cq, ibv_pd, ibv_recv_wr};

enumeration! { ibv_wq_type: u32 {
    IBV_WQT_RQ = 0,
} }

enumeration! { ibv_wq_state: u32 {
    IBV_WQS_RESET = 0,
    IBV_WQS_RDY = 1,
    IBV_WQS_ERR = 2,
    IBV_WQS_UNKNOWN = 3,
} }

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wq {
    pub context: *mut ibv_context,
    pub wq_context: *mut c_void,
    pub pd: *mut ibv_pd,
    pub cq: *mut ibv_cq,
    pub wq_num: u32,
    pub handle: u32,
    pub state: ibv_wq_state,
    pub wq_type: ibv_wq_type,
    pub post_recv: Option<
        unsafe extern "C" fn(
            current: *mut ibv_wq,
            recv_wr: *mut ibv_recv_wr,
            bad_recv_wr: *mut *mut ibv_recv_wr,
        ) -> c_int,
    >,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub events_completed: u32,
    pub comp_mask: u32,
}

enumeration! { ibv_wq_init_attr_mask: u32 {
    IBV_WQ_INIT_ATTR_FLAGS = 1 << 0,
    IBV_WQ_INIT_ATTR_RESERVED = 1 << 1,
} }

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_wq_init_attr {
    pub wq_context: *mut c_void,
    pub wq_type: ibv_wq_type,
    pub max_wr: u32,
    pub max_sge: u32,
    pub pd: *mut ibv_pd,
    pub cq: *mut ibv_cq,
    pub comp_mask: ibv_wq_init_attr_mask,
    pub create_flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_wq_attr {
    pub attr_mask: u32,
    pub wq_state: ibv_wq_state,
    pub curr_wq_state: ibv_wq_state,
    pub flags: u32,
    pub flags_mask: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_rwq_ind_table {
    pub context: *mut ibv_context,
    pub ind_tbl_handle: c_int,
    pub ind_tbl_num: c_int,
    pub comp_mask: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_rwq_ind_table_init_attr {
    pub log_ind_tbl_size: u32,
    pub ind_tbl: *mut *mut ibv_wq,
    pub comp_mask: u32,
}

zeroed! {
    ibv_wq: 152,
    ibv_wq_init_attr: 48,
    ibv_wq_attr: 20,
    ibv_rwq_ind_table: 24,
    ibv_rwq_ind_table_init_attr: 24,
}
