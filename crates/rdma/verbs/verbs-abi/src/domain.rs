//! Thread, parent and XRC domains.

use core::ffi::{c_int, c_void};

use crate::macros::{enumeration, zeroed};
use crate::{ibv_context, ibv_pd};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_td_init_attr {
    pub comp_mask: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_td {
    pub context: *mut ibv_context,
}

enumeration! { ibv_parent_domain_init_attr_mask: u32 {
    IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS = 1 << 0,
    IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT = 1 << 1,
} }

/// What a parent domain's allocator returns to have the default one used.
pub const IBV_ALLOCATOR_USE_DEFAULT: *mut c_void = usize::MAX as *mut c_void;

pub type ibv_parent_domain_alloc = Option<
    unsafe extern "C" fn(
        pd: *mut ibv_pd,
        pd_context: *mut c_void,
        size: usize,
        alignment: usize,
        resource_type: u64,
    ) -> *mut c_void,
>;

pub type ibv_parent_domain_free = Option<
    unsafe extern "C" fn(
        pd: *mut ibv_pd,
        pd_context: *mut c_void,
        ptr: *mut c_void,
        resource_type: u64,
    ),
>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_parent_domain_init_attr {
    pub pd: *mut ibv_pd,
    /// May be null.
    pub td: *mut ibv_td,
    pub comp_mask: u32,
    pub alloc: ibv_parent_domain_alloc,
    pub free: ibv_parent_domain_free,
    pub pd_context: *mut c_void,
}

enumeration! { ibv_xrcd_init_attr_mask: u32 {
    IBV_XRCD_INIT_ATTR_FD = 1 << 0,
    IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1,
    IBV_XRCD_INIT_ATTR_RESERVED = 1 << 2,
} }

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_xrcd_init_attr {
    pub comp_mask: u32,
    /// The file whose inode names the domain; -1 for a domain of this process alone.
    pub fd: c_int,
    pub oflags: c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_xrcd {
    pub context: *mut ibv_context,
}

zeroed! {
    ibv_td_init_attr: 4,
    ibv_td: 8,
    ibv_parent_domain_init_attr: 48,
    ibv_xrcd_init_attr: 12,
    ibv_xrcd: 8,
}
