//! Inline calls that may end in an exported function.

use core::ffi::{c_int, c_void};

use super::{null, operation, unsupported};
use crate::{
    COMPAT_PORT_ATTR_LEN, IBV_ACCESS_OPTIONAL_RANGE, IBV_QP_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_PD,
    IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQT_BASIC, Library, ibv_access_flags, ibv_context,
    ibv_device_attr_ex, ibv_gid_entry, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_init_attr_ex,
    ibv_query_device_ex_input, ibv_srq, ibv_srq_init_attr, ibv_srq_init_attr_ex,
};

impl Library {
    /// # Safety
    /// See [`inline`](crate::inline).
    pub unsafe fn query_port(
        &self,
        context: *mut ibv_context,
        port: u8,
        attr: *mut ibv_port_attr,
    ) -> c_int {
        // SAFETY: the caller's promise, here and in all of this module. The exported function writes the beginning only.
        unsafe {
            match operation!(context, query_port) {
                Some(query) => query(context, port, attr, size_of::<ibv_port_attr>()),
                None => {
                    const { assert!(COMPAT_PORT_ATTR_LEN < size_of::<ibv_port_attr>()) };
                    attr.write(ibv_port_attr::default());
                    (self.compat_query_port)(context, port, attr)
                }
            }
        }
    }

    /// `input` may be null.
    ///
    /// # Safety
    /// See [`inline`](crate::inline).
    pub unsafe fn query_device_ex(
        &self,
        context: *mut ibv_context,
        input: *const ibv_query_device_ex_input,
        attr: *mut ibv_device_attr_ex,
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            if !input.is_null() && (*input).comp_mask != 0 {
                return libc::EINVAL;
            }
            if let Some(query) = operation!(context, query_device_ex) {
                let answer = query(context, input, attr, size_of::<ibv_device_attr_ex>());
                if answer != libc::EOPNOTSUPP && answer != libc::ENOSYS {
                    return answer;
                }
            }
            attr.write(ibv_device_attr_ex::default());
            (self.query_device)(context, &raw mut (*attr).orig_attr)
        }
    }

    /// # Safety
    /// See [`inline`](crate::inline).
    pub unsafe fn query_gid_ex(
        &self,
        context: *mut ibv_context,
        port: u32,
        index: u32,
        entry: *mut ibv_gid_entry,
        flags: u32,
    ) -> c_int {
        match self.sized_query_gid_ex {
            // SAFETY: as above.
            Some(query) => unsafe {
                let bytes = size_of::<ibv_gid_entry>();
                query(context, port, index, entry, flags, bytes)
            },
            None => unsupported(),
        }
    }

    /// # Safety
    /// See [`inline`](crate::inline). The memory stays until `dereg_mr`.
    pub unsafe fn reg_mr(
        &self,
        pd: *mut ibv_pd,
        address: *mut c_void,
        length: usize,
        access: ibv_access_flags,
    ) -> *mut ibv_mr {
        // SAFETY: as above.
        unsafe {
            if access & IBV_ACCESS_OPTIONAL_RANGE == 0 {
                (self.plain_reg_mr)(pd, address, length, access as c_int)
            } else {
                (self.reg_mr_iova2)(pd, address, length, address as u64, access)
            }
        }
    }

    /// # Safety
    /// See [`inline`](crate::inline).
    pub unsafe fn create_qp_ex(
        &self,
        context: *mut ibv_context,
        attr: *mut ibv_qp_init_attr_ex,
    ) -> *mut ibv_qp {
        // SAFETY: as above. The extended attributes begin with the ordinary ones.
        unsafe {
            if (*attr).comp_mask == IBV_QP_INIT_ATTR_PD {
                return (self.create_qp)((*attr).pd, attr.cast());
            }
            match operation!(context, create_qp_ex) {
                Some(create) => create(context, attr),
                None => null(),
            }
        }
    }

    /// # Safety
    /// See [`inline`](crate::inline).
    pub unsafe fn create_srq_ex(
        &self,
        context: *mut ibv_context,
        attr: *mut ibv_srq_init_attr_ex,
    ) -> *mut ibv_srq {
        // SAFETY: as above. The extended attributes begin with the ordinary ones.
        unsafe {
            let mask = (*attr).comp_mask;
            let typed = mask & IBV_SRQ_INIT_ATTR_TYPE != 0;
            let basic = !typed || (*attr).srq_type == IBV_SRQT_BASIC;
            if mask & !IBV_SRQ_INIT_ATTR_TYPE == IBV_SRQ_INIT_ATTR_PD && basic {
                let plain = attr.cast::<ibv_srq_init_attr>();
                return (self.create_srq)((*attr).pd, plain);
            }
            match operation!(context, create_srq_ex) {
                Some(create) => create(context, attr),
                None => null(),
            }
        }
    }
}
