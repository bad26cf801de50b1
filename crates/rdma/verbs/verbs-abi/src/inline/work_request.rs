//! Work requests by calls (ibv_wr_post(3)): start, for each request one call that begins it and the calls that set what
//! it needs, then complete or abort.

use core::ffi::{c_int, c_void};

use crate::{ibv_ah, ibv_data_buf, ibv_mw, ibv_mw_bind_info, ibv_qp_ex, ibv_sge};

macro_rules! calls {
    ($($(#[$meta:meta])* $name:ident: $field:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            $(#[$meta])*
            /// # Safety
            /// See the [module](super); between start and complete, and of the operations that the queue pair was created
            /// with.
            #[inline]
            pub unsafe fn $name(qp: *mut ibv_qp_ex $(, $argument: $type)*) $(-> $result)? {
                // SAFETY: the caller's promise: then the pointer is filled.
                unsafe { ((*qp).$field.unwrap_unchecked())(qp $(, $argument)*) }
            }
        )*
    };
}

calls! {
    ibv_wr_start: wr_start();
    /// Posts all requests since start, or none: then the answer is an error number.
    ///
    ibv_wr_complete: wr_complete() -> c_int;
    ibv_wr_abort: wr_abort();
    ibv_wr_send: wr_send();
    /// Immediate data are big endian, here and below.
    ///
    ibv_wr_send_imm: wr_send_imm(imm_data: u32);
    ibv_wr_send_inv: wr_send_inv(invalidate_rkey: u32);
    ibv_wr_send_tso: wr_send_tso(hdr: *mut c_void, hdr_sz: u16, mss: u16);
    ibv_wr_rdma_read: wr_rdma_read(rkey: u32, remote_addr: u64);
    ibv_wr_rdma_write: wr_rdma_write(rkey: u32, remote_addr: u64);
    ibv_wr_rdma_write_imm: wr_rdma_write_imm(rkey: u32, remote_addr: u64, imm_data: u32);
    ibv_wr_atomic_cmp_swp: wr_atomic_cmp_swp(rkey: u32, remote_addr: u64, compare: u64, swap: u64);
    ibv_wr_atomic_fetch_add: wr_atomic_fetch_add(rkey: u32, remote_addr: u64, add: u64);
    ibv_wr_atomic_write: wr_atomic_write(rkey: u32, remote_addr: u64, atomic_wr: *const c_void);
    ibv_wr_flush: wr_flush(rkey: u32, remote_addr: u64, length: usize, placement: u8, level: u8);
    ibv_wr_bind_mw: wr_bind_mw(mw: *mut ibv_mw, rkey: u32, bind_info: *const ibv_mw_bind_info);
    ibv_wr_local_inv: wr_local_inv(invalidate_rkey: u32);
    ibv_wr_set_ud_addr: wr_set_ud_addr(ah: *mut ibv_ah, remote_qpn: u32, remote_qkey: u32);
    ibv_wr_set_xrc_srqn: wr_set_xrc_srqn(remote_srqn: u32);
    ibv_wr_set_sge: wr_set_sge(lkey: u32, addr: u64, length: u32);
    ibv_wr_set_sge_list: wr_set_sge_list(num_sge: usize, sg_list: *const ibv_sge);
    ibv_wr_set_inline_data: wr_set_inline_data(addr: *mut c_void, length: usize);
    ibv_wr_set_inline_data_list: wr_set_inline_data_list(num_buf: usize, buf_list: *const ibv_data_buf);
}
