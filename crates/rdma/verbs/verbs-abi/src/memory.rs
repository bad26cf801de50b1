//! How memory is registered; device memory and provider-allocated buffers.

use core::ffi::{c_int, c_void};

use crate::ibv_context;
use crate::macros::{enumeration, zeroed};

enumeration! { ibv_rereg_mr_flags: c_int {
    IBV_REREG_MR_CHANGE_TRANSLATION = 1 << 0,
    IBV_REREG_MR_CHANGE_PD = 1 << 1,
    IBV_REREG_MR_CHANGE_ACCESS = 1 << 2,
    IBV_REREG_MR_FLAGS_SUPPORTED = 7,
} }

enumeration! { ibv_rereg_mr_err_code: c_int {
    IBV_REREG_MR_ERR_INPUT = -1,
    IBV_REREG_MR_ERR_DONT_FORK_NEW = -2,
    IBV_REREG_MR_ERR_DO_FORK_OLD = -3,
    IBV_REREG_MR_ERR_CMD = -4,
    IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW = -5,
} }

enumeration! { ibv_mr_init_attr_mask: u64 {
    IBV_REG_MR_MASK_IOVA = 1 << 0,
    IBV_REG_MR_MASK_ADDR = 1 << 1,
    IBV_REG_MR_MASK_FD = 1 << 2,
    IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
    IBV_REG_MR_MASK_DMAH = 1 << 4,
    IBV_REG_MR_MASK_BUF = 1 << 5,
} }

/// What `ibv_reg_mr_ex` registers; `comp_mask` says which fields the caller's header had and set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_mr_init_attr {
    pub length: usize,
    pub access: c_int,
    pub comp_mask: ibv_mr_init_attr_mask,
    pub iova: u64,
    pub addr: *mut c_void,
    pub fd: c_int,
    pub fd_offset: u64,
    pub dmah: *mut ibv_dmah,
    pub buf: *mut ibv_buf,
}

/// A handle of `ibv_alloc_buf`, opaque to applications.
#[repr(C)]
pub struct ibv_buf {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_alloc_dm_attr {
    pub length: usize,
    pub log_align_req: u32,
    pub comp_mask: u32,
}

enumeration! { ibv_dm_mask: u32 {
    IBV_DM_MASK_HANDLE = 1 << 0,
} }

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_dm {
    pub context: *mut ibv_context,
    pub memcpy_to_dm: Option<
        unsafe extern "C" fn(
            dm: *mut ibv_dm,
            dm_offset: u64,
            host_addr: *const c_void,
            length: usize,
        ) -> c_int,
    >,
    pub memcpy_from_dm: Option<
        unsafe extern "C" fn(
            host_addr: *mut c_void,
            dm: *mut ibv_dm,
            dm_offset: u64,
            length: usize,
        ) -> c_int,
    >,
    pub comp_mask: u32,
    pub handle: u32,
}

/// A DMA hint handle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_dmah {
    pub context: *mut ibv_context,
}

enumeration! { ibv_dmah_init_attr_mask: u32 {
    IBV_DMAH_INIT_ATTR_MASK_CPU_ID = 1 << 0,
    IBV_DMAH_INIT_ATTR_MASK_PH = 1 << 1,
    IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE = 1 << 2,
} }

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_dmah_init_attr {
    pub comp_mask: u32,
    pub cpu_id: u32,
    pub ph: u8,
    pub tph_mem_type: u8,
}

enumeration! { ibv_advise_mr_advice: u32 {
    IBV_ADVISE_MR_ADVICE_PREFETCH = 0,
    IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE = 1,
    IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT = 2,
} }

pub const IBV_ADVISE_MR_FLAG_FLUSH: u32 = 1 << 0;

enumeration! { ibv_placement_type: u8 {
    IBV_FLUSH_GLOBAL = 1 << 0,
    IBV_FLUSH_PERSISTENT = 1 << 1,
} }

enumeration! { ibv_selectivity_level: u8 {
    IBV_FLUSH_RANGE = 0,
    IBV_FLUSH_MR = 1,
} }

enumeration! { ibv_fork_status: u32 {
    IBV_FORK_DISABLED = 0,
    IBV_FORK_ENABLED = 1,
    IBV_FORK_UNNEEDED = 2,
} }

zeroed! {
    ibv_mr_init_attr: 72,
    ibv_alloc_dm_attr: 16,
    ibv_dm: 32,
    ibv_dmah: 8,
    ibv_dmah_init_attr: 12,
}
