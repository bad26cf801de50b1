//! Flow counters and completion counters.

use crate::ibv_context;
use crate::macros::{enumeration, zeroed};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_counters_init_attr {
    pub comp_mask: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_counters {
    pub context: *mut ibv_context,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_counter_attach_attr {
    pub counter_desc: u32,
    pub index: u32,
    pub comp_mask: u32,
}

/// Counts completions without a completion queue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_comp_cntr {
    pub context: *mut ibv_context,
    pub handle: u32,
    pub comp_count_max_value: u64,
    pub err_count_max_value: u64,
}

enumeration! { ibv_comp_cntr_type: u32 {
    IBV_COMP_CNTR_TYPE_WRS = 0,
    IBV_COMP_CNTR_TYPE_BYTES = 1,
} }

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_comp_cntr_init_attr {
    pub comp_mask: u32,
    pub r#type: ibv_comp_cntr_type,
    pub flags: u32,
}

zeroed! {
    ibv_counters_init_attr: 4,
    ibv_counters: 8,
    ibv_counter_attach_attr: 12,
    ibv_comp_cntr: 32,
    ibv_comp_cntr_init_attr: 12,
}
