//! From the kernel's layouts to the library's (used by librdmacm on what it reads from its own device).

use weft_verbs_abi::*;

/// `struct ib_uverbs_global_route` and `struct ib_uverbs_ah_attr` of the kernel's `rdma/ib_user_verbs.h`.
#[repr(C)]
pub struct KernelAddress {
    dgid: [u8; 16],
    flow_label: u32,
    sgid_index: u8,
    hop_limit: u8,
    traffic_class: u8,
    reserved: u8,
    dlid: u16,
    sl: u8,
    src_path_bits: u8,
    static_rate: u8,
    is_global: u8,
    port_num: u8,
    reserved2: u8,
}

/// `struct ib_uverbs_qp_attr` of the kernel's `rdma/ib_user_verbs.h`.
#[repr(C)]
pub struct KernelQueuePair {
    qp_attr_mask: u32,
    qp_state: u32,
    cur_qp_state: u32,
    path_mtu: u32,
    path_mig_state: u32,
    qkey: u32,
    rq_psn: u32,
    sq_psn: u32,
    dest_qp_num: u32,
    qp_access_flags: u32,
    ah_attr: KernelAddress,
    alt_ah_attr: KernelAddress,
    max_send_wr: u32,
    max_recv_wr: u32,
    max_send_sge: u32,
    max_recv_sge: u32,
    max_inline_data: u32,
    pkey_index: u16,
    alt_pkey_index: u16,
    en_sqd_async_notify: u8,
    sq_draining: u8,
    max_rd_atomic: u8,
    max_dest_rd_atomic: u8,
    min_rnr_timer: u8,
    port_num: u8,
    timeout: u8,
    retry_cnt: u8,
    rnr_retry: u8,
    alt_port_num: u8,
    alt_timeout: u8,
    reserved: [u8; 5],
}

/// `struct ib_user_path_rec` of the kernel's `rdma/ib_user_sa.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelPath {
    dgid: [u8; 16],
    sgid: [u8; 16],
    dlid: u16,
    slid: u16,
    raw_traffic: u32,
    flow_label: u32,
    reversible: u32,
    mtu: u32,
    pkey: u16,
    hop_limit: u8,
    traffic_class: u8,
    numb_path: u8,
    sl: u8,
    mtu_selector: u8,
    rate_selector: u8,
    rate: u8,
    packet_life_time_selector: u8,
    packet_life_time: u8,
    preference: u8,
}

const _: () = {
    assert!(size_of::<KernelAddress>() == 32);
    assert!(size_of::<KernelQueuePair>() == 144);
    assert!(size_of::<KernelPath>() == 64);
};

fn address(kernel: &KernelAddress) -> ibv_ah_attr {
    ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: kernel.dgid },
            flow_label: kernel.flow_label,
            sgid_index: kernel.sgid_index,
            hop_limit: kernel.hop_limit,
            traffic_class: kernel.traffic_class,
        },
        dlid: kernel.dlid,
        sl: kernel.sl,
        src_path_bits: kernel.src_path_bits,
        static_rate: kernel.static_rate,
        is_global: kernel.is_global,
        port_num: kernel.port_num,
    }
}

/// # Safety
/// Both point to one of their type.
pub unsafe extern "C" fn ibv_copy_ah_attr_from_kern(
    target: *mut ibv_ah_attr,
    source: *const KernelAddress,
) {
    // SAFETY: the caller's promise.
    unsafe { target.write(address(&*source)) };
}

/// Leaves `rate_limit` alone, which the kernel's structure does not have.
///
/// # Safety
/// Both point to one of their type.
pub unsafe extern "C" fn ibv_copy_qp_attr_from_kern(
    target: *mut ibv_qp_attr,
    source: *const KernelQueuePair,
) {
    // SAFETY: the caller's promise.
    let (target, source) = unsafe { (&mut *target, &*source) };
    *target = ibv_qp_attr {
        qp_state: source.qp_state,
        cur_qp_state: source.cur_qp_state,
        path_mtu: source.path_mtu,
        path_mig_state: source.path_mig_state,
        qkey: source.qkey,
        rq_psn: source.rq_psn,
        sq_psn: source.sq_psn,
        dest_qp_num: source.dest_qp_num,
        qp_access_flags: source.qp_access_flags,
        cap: ibv_qp_cap {
            max_send_wr: source.max_send_wr,
            max_recv_wr: source.max_recv_wr,
            max_send_sge: source.max_send_sge,
            max_recv_sge: source.max_recv_sge,
            max_inline_data: source.max_inline_data,
        },
        ah_attr: address(&source.ah_attr),
        alt_ah_attr: address(&source.alt_ah_attr),
        pkey_index: source.pkey_index,
        alt_pkey_index: source.alt_pkey_index,
        en_sqd_async_notify: source.en_sqd_async_notify,
        sq_draining: source.sq_draining,
        max_rd_atomic: source.max_rd_atomic,
        max_dest_rd_atomic: source.max_dest_rd_atomic,
        min_rnr_timer: source.min_rnr_timer,
        port_num: source.port_num,
        timeout: source.timeout,
        retry_cnt: source.retry_cnt,
        rnr_retry: source.rnr_retry,
        alt_port_num: source.alt_port_num,
        alt_timeout: source.alt_timeout,
        rate_limit: target.rate_limit,
    };
}

/// # Safety
/// Both point to one of their type.
pub unsafe extern "C" fn ibv_copy_path_rec_from_kern(
    target: *mut ibv_sa_path_rec,
    source: *const KernelPath,
) {
    // SAFETY: the caller's promise.
    let source = unsafe { *source };
    let path = ibv_sa_path_rec {
        dgid: ibv_gid { raw: source.dgid },
        sgid: ibv_gid { raw: source.sgid },
        dlid: source.dlid,
        slid: source.slid,
        raw_traffic: source.raw_traffic as i32,
        flow_label: source.flow_label,
        hop_limit: source.hop_limit,
        traffic_class: source.traffic_class,
        reversible: source.reversible as i32,
        numb_path: source.numb_path,
        pkey: source.pkey,
        sl: source.sl,
        mtu_selector: source.mtu_selector,
        mtu: source.mtu as u8,
        rate_selector: source.rate_selector,
        rate: source.rate,
        packet_life_time_selector: source.packet_life_time_selector,
        packet_life_time: source.packet_life_time,
        preference: source.preference,
    };
    // SAFETY: the caller's promise.
    unsafe { target.write(path) };
}

/// # Safety
/// Both point to one of their type.
pub unsafe extern "C" fn ibv_copy_path_rec_to_kern(
    target: *mut KernelPath,
    source: *const ibv_sa_path_rec,
) {
    // SAFETY: the caller's promise.
    let source = unsafe { *source };
    let path = KernelPath {
        dgid: source.dgid.bytes(),
        sgid: source.sgid.bytes(),
        dlid: source.dlid,
        slid: source.slid,
        raw_traffic: source.raw_traffic as u32,
        flow_label: source.flow_label,
        reversible: source.reversible as u32,
        mtu: u32::from(source.mtu),
        pkey: source.pkey,
        hop_limit: source.hop_limit,
        traffic_class: source.traffic_class,
        numb_path: source.numb_path,
        sl: source.sl,
        mtu_selector: source.mtu_selector,
        rate_selector: source.rate_selector,
        rate: source.rate,
        packet_life_time_selector: source.packet_life_time_selector,
        packet_life_time: source.packet_life_time,
        preference: source.preference,
    };
    // SAFETY: the caller's promise.
    unsafe { target.write(path) };
}
