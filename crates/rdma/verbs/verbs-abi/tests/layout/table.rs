//! Every structure and every field, with C's name where it is another. C's unnamed unions have a name in Rust only.

use weft_verbs_abi::*;

use crate::{Structure, structures};

pub const TABLE: &[Structure] = structures! {
    ("union ibv_gid", ibv_gid) {
        raw, global.subnet_prefix, global.interface_id,
    }
    ("struct ibv_gid_entry", ibv_gid_entry) {
        gid, gid_index, port_num, gid_type, ndev_ifindex,
    }
    ("struct ibv_global_route", ibv_global_route) {
        dgid, flow_label, sgid_index, hop_limit, traffic_class,
    }
    ("struct ibv_grh", ibv_grh) {
        version_tclass_flow, paylen, next_hdr, hop_limit, sgid, dgid,
    }
    ("struct ibv_ah_attr", ibv_ah_attr) {
        grh, dlid, sl, src_path_bits, static_rate, is_global, port_num,
    }
    ("struct ibv_ah", ibv_ah) {
        context, pd, handle,
    }
    ("struct ibv_ece", ibv_ece) {
        vendor_id, options, comp_mask,
    }
    ("struct ibv_comp_channel", ibv_comp_channel) {
        context, fd, refcnt,
    }
    ("struct ibv_cq", ibv_cq) {
        context, channel, cq_context, handle, cqe, mutex, cond, comp_events_completed, async_events_completed,
    }
    ("struct ibv_wc", ibv_wc) {
        wr_id, status, opcode, vendor_err, byte_len, immediate.imm_data => "imm_data",
        immediate.invalidated_rkey => "invalidated_rkey", qp_num, src_qp, wc_flags, pkey_index, slid, sl,
        dlid_path_bits,
    }
    ("struct ibv_cq_init_attr_ex", ibv_cq_init_attr_ex) {
        cqe, cq_context, channel, comp_vector, wc_flags, comp_mask, flags, parent_domain,
    }
    ("struct ibv_moderate_cq", ibv_moderate_cq) {
        cq_count, cq_period,
    }
    ("struct ibv_modify_cq_attr", ibv_modify_cq_attr) {
        attr_mask, moderate,
    }
    ("struct ibv_poll_cq_attr", ibv_poll_cq_attr) {
        comp_mask,
    }
    ("struct ibv_wc_tm_info", ibv_wc_tm_info) {
        tag, r#priv,
    }
    ("struct ibv_cq_ex", ibv_cq_ex) {
        base.context => "context", base.channel => "channel", base.cq_context => "cq_context", base.handle =>
        "handle", base.cqe => "cqe", base.mutex => "mutex", base.cond => "cond", base.comp_events_completed =>
        "comp_events_completed", base.async_events_completed => "async_events_completed", comp_mask, status,
        wr_id, start_poll, next_poll, end_poll, read_opcode, read_vendor_err, read_byte_len, read_imm_data,
        read_qp_num, read_src_qp, read_wc_flags, read_slid, read_sl, read_dlid_path_bits, read_completion_ts,
        read_cvlan, read_flow_tag, read_tm_info, read_completion_wallclock_ns,
    }
    ("struct ibv_context_ops", ibv_context_ops) {
        compat_query_device => "_compat_query_device", compat_query_port => "_compat_query_port",
        compat_alloc_pd => "_compat_alloc_pd", compat_dealloc_pd => "_compat_dealloc_pd", compat_reg_mr =>
        "_compat_reg_mr", compat_rereg_mr => "_compat_rereg_mr", compat_dereg_mr => "_compat_dereg_mr",
        alloc_mw, bind_mw, dealloc_mw, compat_create_cq => "_compat_create_cq", poll_cq, req_notify_cq,
        compat_cq_event => "_compat_cq_event", compat_resize_cq => "_compat_resize_cq", compat_destroy_cq =>
        "_compat_destroy_cq", compat_create_srq => "_compat_create_srq", compat_modify_srq =>
        "_compat_modify_srq", compat_query_srq => "_compat_query_srq", compat_destroy_srq =>
        "_compat_destroy_srq", post_srq_recv, compat_create_qp => "_compat_create_qp", compat_query_qp =>
        "_compat_query_qp", compat_modify_qp => "_compat_modify_qp", compat_destroy_qp => "_compat_destroy_qp",
        post_send, post_recv, compat_create_ah => "_compat_create_ah", compat_destroy_ah =>
        "_compat_destroy_ah", compat_attach_mcast => "_compat_attach_mcast", compat_detach_mcast =>
        "_compat_detach_mcast", compat_async_event => "_compat_async_event",
    }
    ("struct ibv_context", ibv_context) {
        device, ops, cmd_fd, async_fd, num_comp_vectors, mutex, abi_compat,
    }
    ("struct ibv_values_ex", ibv_values_ex) {
        comp_mask, raw_clock,
    }
    ("struct verbs_context", verbs_context) {
        dm_export_dmabuf_fd, reg_mr_ex, dealloc_dmah, alloc_dmah, query_port, advise_mr, alloc_null_mr,
        read_counters, attach_counters_point_flow, create_counters, destroy_counters, reg_dm_mr, alloc_dm,
        free_dm, modify_flow_action_esp, destroy_flow_action, create_flow_action_esp, modify_qp_rate_limit,
        alloc_parent_domain, dealloc_td, alloc_td, modify_cq, post_srq_ops, destroy_rwq_ind_table,
        create_rwq_ind_table, destroy_wq, modify_wq, create_wq, query_rt_values, create_cq_ex, r#priv,
        query_device_ex, destroy_flow => "ibv_destroy_flow", placeholder2 => "ABI_placeholder2", create_flow =>
        "ibv_create_flow", placeholder1 => "ABI_placeholder1", open_qp, create_qp_ex, get_srq_num,
        create_srq_ex, open_xrcd, close_xrcd, placeholder3 => "_ABI_placeholder3", sz, context,
    }
    ("struct ibv_counters_init_attr", ibv_counters_init_attr) {
        comp_mask,
    }
    ("struct ibv_counters", ibv_counters) {
        context,
    }
    ("struct ibv_counter_attach_attr", ibv_counter_attach_attr) {
        counter_desc, index, comp_mask,
    }
    ("struct ibv_comp_cntr", ibv_comp_cntr) {
        context, handle, comp_count_max_value, err_count_max_value,
    }
    ("struct ibv_comp_cntr_init_attr", ibv_comp_cntr_init_attr) {
        comp_mask, r#type, flags,
    }
    ("struct _ibv_device_ops", ibv_device_ops) {
        dummy1 => "_dummy1", dummy2 => "_dummy2",
    }
    ("struct ibv_device", ibv_device) {
        ops => "_ops", node_type, transport_type, name, dev_name, dev_path, ibdev_path,
    }
    ("struct ibv_device_attr", ibv_device_attr) {
        fw_ver, node_guid, sys_image_guid, max_mr_size, page_size_cap, vendor_id, vendor_part_id, hw_ver,
        max_qp, max_qp_wr, device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd,
        max_qp_rd_atom, max_ee_rd_atom, max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap,
        max_ee, max_rdd, max_mw, max_raw_ipv6_qp, max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach,
        max_total_mcast_qp_attach, max_ah, max_fmr, max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge,
        max_pkeys, local_ca_ack_delay, phys_port_cnt,
    }
    ("struct ibv_query_device_ex_input", ibv_query_device_ex_input) {
        comp_mask,
    }
    ("struct ibv_odp_caps", ibv_odp_caps) {
        general_caps, per_transport_caps.rc_odp_caps, per_transport_caps.uc_odp_caps,
        per_transport_caps.ud_odp_caps,
    }
    ("struct ibv_tso_caps", ibv_tso_caps) {
        max_tso, supported_qpts,
    }
    ("struct ibv_rss_caps", ibv_rss_caps) {
        supported_qpts, max_rwq_indirection_tables, max_rwq_indirection_table_size, rx_hash_fields_mask,
        rx_hash_function,
    }
    ("struct ibv_packet_pacing_caps", ibv_packet_pacing_caps) {
        qp_rate_limit_min, qp_rate_limit_max, supported_qpts,
    }
    ("struct ibv_tm_caps", ibv_tm_caps) {
        max_rndv_hdr_size, max_num_tags, flags, max_ops, max_sge,
    }
    ("struct ibv_cq_moderation_caps", ibv_cq_moderation_caps) {
        max_cq_count, max_cq_period,
    }
    ("struct ibv_pci_atomic_caps", ibv_pci_atomic_caps) {
        fetch_add, swap, compare_swap,
    }
    ("struct ibv_device_attr_ex", ibv_device_attr_ex) {
        orig_attr, comp_mask, odp_caps, completion_timestamp_mask, hca_core_clock, device_cap_flags_ex,
        tso_caps, rss_caps, max_wq_type_rq, packet_pacing_caps, raw_packet_caps, tm_caps, cq_mod_caps,
        max_dm_size, pci_atomic_caps, xrc_odp_caps, phys_port_cnt_ex,
    }
    ("struct ibv_pd", ibv_pd) {
        context, handle,
    }
    ("struct ibv_td_init_attr", ibv_td_init_attr) {
        comp_mask,
    }
    ("struct ibv_td", ibv_td) {
        context,
    }
    ("struct ibv_parent_domain_init_attr", ibv_parent_domain_init_attr) {
        pd, td, comp_mask, alloc, free, pd_context,
    }
    ("struct ibv_xrcd_init_attr", ibv_xrcd_init_attr) {
        comp_mask, fd, oflags,
    }
    ("struct ibv_xrcd", ibv_xrcd) {
        context,
    }
    ("struct ibv_async_event", ibv_async_event) {
        element.cq, element.qp, element.srq, element.wq, element.port_num, event_type,
    }
    ("struct ibv_flow_attr", ibv_flow_attr) {
        comp_mask, r#type, size, priority, num_of_specs, port, flags,
    }
    ("struct ibv_flow", ibv_flow) {
        comp_mask, context, handle,
    }
    ("struct ibv_flow_action", ibv_flow_action) {
        context,
    }
    ("struct ibv_mr", ibv_mr) {
        context, pd, addr, length, handle, lkey, rkey,
    }
    ("struct ibv_mr_init_attr", ibv_mr_init_attr) {
        length, access, comp_mask, iova, addr, fd, fd_offset, dmah, buf,
    }
    ("struct ibv_mw", ibv_mw) {
        context, pd, rkey, handle, r#type,
    }
    ("struct ibv_mw_bind_info", ibv_mw_bind_info) {
        mr, addr, length, mw_access_flags,
    }
    ("struct ibv_mw_bind", ibv_mw_bind) {
        wr_id, send_flags, bind_info,
    }
    ("struct ibv_alloc_dm_attr", ibv_alloc_dm_attr) {
        length, log_align_req, comp_mask,
    }
    ("struct ibv_dm", ibv_dm) {
        context, memcpy_to_dm, memcpy_from_dm, comp_mask, handle,
    }
    ("struct ibv_dmah", ibv_dmah) {
        context,
    }
    ("struct ibv_dmah_init_attr", ibv_dmah_init_attr) {
        comp_mask, cpu_id, ph, tph_mem_type,
    }
    ("struct ibv_sa_path_rec", ibv_sa_path_rec) {
        dgid, sgid, dlid, slid, raw_traffic, flow_label, hop_limit, traffic_class, reversible, numb_path, pkey, sl,
        mtu_selector, mtu, rate_selector, rate, packet_life_time_selector, packet_life_time, preference,
    }
    ("struct ibv_port_attr", ibv_port_attr) {
        state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr,
        pkey_tbl_len, lid, sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width,
        active_speed, phys_state, link_layer, flags, port_cap_flags2, active_speed_ex,
    }
    ("struct ibv_qp", ibv_qp) {
        context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num, state, qp_type, mutex, cond,
        events_completed,
    }
    ("struct ibv_qp_cap", ibv_qp_cap) {
        max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data,
    }
    ("struct ibv_qp_init_attr", ibv_qp_init_attr) {
        qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all,
    }
    ("struct ibv_rx_hash_conf", ibv_rx_hash_conf) {
        rx_hash_function, rx_hash_key_len, rx_hash_key, rx_hash_fields_mask,
    }
    ("struct ibv_qp_init_attr_ex", ibv_qp_init_attr_ex) {
        qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all, comp_mask, pd, xrcd, create_flags,
        max_tso_header, rwq_ind_tbl, rx_hash_conf, source_qpn, send_ops_flags,
    }
    ("struct ibv_qp_open_attr", ibv_qp_open_attr) {
        comp_mask, qp_num, xrcd, qp_context, qp_type,
    }
    ("struct ibv_qp_attr", ibv_qp_attr) {
        qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags,
        cap, ah_attr, alt_ah_attr, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic,
        max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout,
        rate_limit,
    }
    ("struct ibv_qp_rate_limit_attr", ibv_qp_rate_limit_attr) {
        rate_limit, max_burst_sz, typical_pkt_sz, comp_mask,
    }
    ("struct ibv_qp_ex", ibv_qp_ex) {
        qp_base, comp_mask, wr_id, wr_flags, wr_atomic_cmp_swp, wr_atomic_fetch_add, wr_bind_mw, wr_local_inv,
        wr_rdma_read, wr_rdma_write, wr_rdma_write_imm, wr_send, wr_send_imm, wr_send_inv, wr_send_tso,
        wr_set_ud_addr, wr_set_xrc_srqn, wr_set_inline_data, wr_set_inline_data_list, wr_set_sge,
        wr_set_sge_list, wr_start, wr_complete, wr_abort, wr_atomic_write, wr_flush,
    }
    ("struct ibv_srq", ibv_srq) {
        context, srq_context, pd, handle, mutex, cond, events_completed,
    }
    ("struct ibv_srq_attr", ibv_srq_attr) {
        max_wr, max_sge, srq_limit,
    }
    ("struct ibv_srq_init_attr", ibv_srq_init_attr) {
        srq_context, attr,
    }
    ("struct ibv_tm_cap", ibv_tm_cap) {
        max_num_tags, max_ops,
    }
    ("struct ibv_srq_init_attr_ex", ibv_srq_init_attr_ex) {
        srq_context, attr, comp_mask, srq_type, pd, xrcd, cq, tm_cap,
    }
    ("struct ibv_wq", ibv_wq) {
        context, wq_context, pd, cq, wq_num, handle, state, wq_type, post_recv, mutex, cond, events_completed,
        comp_mask,
    }
    ("struct ibv_wq_init_attr", ibv_wq_init_attr) {
        wq_context, wq_type, max_wr, max_sge, pd, cq, comp_mask, create_flags,
    }
    ("struct ibv_wq_attr", ibv_wq_attr) {
        attr_mask, wq_state, curr_wq_state, flags, flags_mask,
    }
    ("struct ibv_rwq_ind_table", ibv_rwq_ind_table) {
        context, ind_tbl_handle, ind_tbl_num, comp_mask,
    }
    ("struct ibv_rwq_ind_table_init_attr", ibv_rwq_ind_table_init_attr) {
        log_ind_tbl_size, ind_tbl, comp_mask,
    }
    ("struct ibv_sge", ibv_sge) {
        addr, length, lkey,
    }
    ("struct ibv_data_buf", ibv_data_buf) {
        addr, length,
    }
    ("struct ibv_send_wr", ibv_send_wr) {
        wr_id, next, sg_list, num_sge, opcode, send_flags, immediate.imm_data => "imm_data",
        immediate.invalidate_rkey => "invalidate_rkey", wr, wr.rdma.remote_addr, wr.rdma.rkey,
        wr.atomic.remote_addr, wr.atomic.compare_add, wr.atomic.swap, wr.atomic.rkey, wr.ud.ah,
        wr.ud.remote_qpn, wr.ud.remote_qkey, qp_type, qp_type.xrc.remote_srqn, extra.bind_mw.mw => "bind_mw.mw",
        extra.bind_mw.rkey => "bind_mw.rkey", extra.bind_mw.bind_info => "bind_mw.bind_info", extra.tso.hdr =>
        "tso.hdr", extra.tso.hdr_sz => "tso.hdr_sz", extra.tso.mss => "tso.mss",
    }
    ("struct ibv_recv_wr", ibv_recv_wr) {
        wr_id, next, sg_list, num_sge,
    }
    ("struct ibv_ops_wr", ibv_ops_wr) {
        wr_id, next, opcode, flags, tm, tm.unexpected_cnt, tm.handle, tm.add.recv_wr_id, tm.add.sg_list,
        tm.add.num_sge, tm.add.tag, tm.add.mask,
    }
};
