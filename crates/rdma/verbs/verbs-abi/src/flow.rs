//! Flow steering. Only what has to be named: the device here has no packets to steer.

use crate::ibv_context;
use crate::macros::zeroed;

/// Followed in memory by `num_of_specs` specifications.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_attr {
    pub comp_mask: u32,
    pub r#type: u32,
    pub size: u16,
    pub priority: u16,
    pub num_of_specs: u8,
    pub port: u8,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow {
    pub comp_mask: u32,
    pub context: *mut ibv_context,
    pub handle: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_action {
    pub context: *mut ibv_context,
}

/// Only ever behind a pointer.
#[repr(C)]
pub struct ibv_flow_action_esp_attr {
    _opaque: [u8; 0],
}

zeroed! {
    ibv_flow_attr: 20,
    ibv_flow: 24,
    ibv_flow_action: 8,
}
