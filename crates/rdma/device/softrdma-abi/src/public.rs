//! The public symbols, by version: all of rdma-core's that are still in use, and those of its newest releases.
//!
//! The old `IBVERBS_1.0` forms of calls that have a newer one are not here: no program of this century has them.

use weft_softrdma::verbs;
use weft_verbs_abi::export_versioned;

use crate::{kernel, process, rate, sysfs, text, unsupported};

export_versioned! {
    "@@", "ibv_copy_path_rec_from_kern", "IBVERBS_1.0" => kernel::ibv_copy_path_rec_from_kern;
    "@@", "ibv_copy_path_rec_to_kern", "IBVERBS_1.0" => kernel::ibv_copy_path_rec_to_kern;
    "@@", "ibv_copy_qp_attr_from_kern", "IBVERBS_1.0" => kernel::ibv_copy_qp_attr_from_kern;
    "@@", "ibv_create_comp_channel", "IBVERBS_1.0" => verbs::ibv_create_comp_channel;
    "@@", "ibv_destroy_comp_channel", "IBVERBS_1.0" => verbs::ibv_destroy_comp_channel;
    "@@", "ibv_get_sysfs_path", "IBVERBS_1.0" => sysfs::ibv_get_sysfs_path;
    "@@", "ibv_rate_to_mult", "IBVERBS_1.0" => rate::ibv_rate_to_mult;
    "@@", "ibv_read_sysfs_file", "IBVERBS_1.0" => sysfs::ibv_read_sysfs_file;
    "@@", "mult_to_ibv_rate", "IBVERBS_1.0" => rate::mult_to_ibv_rate;

    "@@", "ibv_ack_async_event", "IBVERBS_1.1" => verbs::ibv_ack_async_event;
    "@@", "ibv_ack_cq_events", "IBVERBS_1.1" => verbs::ibv_ack_cq_events;
    "@@", "ibv_alloc_pd", "IBVERBS_1.1" => verbs::ibv_alloc_pd;
    "@@", "ibv_attach_mcast", "IBVERBS_1.1" => verbs::ibv_attach_mcast;
    "@@", "ibv_close_device", "IBVERBS_1.1" => verbs::ibv_close_device;
    "@@", "ibv_copy_ah_attr_from_kern", "IBVERBS_1.1" => kernel::ibv_copy_ah_attr_from_kern;
    "@@", "ibv_create_ah", "IBVERBS_1.1" => verbs::ibv_create_ah;
    "@@", "ibv_create_ah_from_wc", "IBVERBS_1.1" => verbs::ibv_create_ah_from_wc;
    "@@", "ibv_create_cq", "IBVERBS_1.1" => verbs::ibv_create_cq;
    "@@", "ibv_create_qp", "IBVERBS_1.1" => verbs::ibv_create_qp;
    "@@", "ibv_create_srq", "IBVERBS_1.1" => verbs::ibv_create_srq;
    "@@", "ibv_dealloc_pd", "IBVERBS_1.1" => verbs::ibv_dealloc_pd;
    "@@", "ibv_dereg_mr", "IBVERBS_1.1" => verbs::ibv_dereg_mr;
    "@@", "ibv_destroy_ah", "IBVERBS_1.1" => verbs::ibv_destroy_ah;
    "@@", "ibv_destroy_cq", "IBVERBS_1.1" => verbs::ibv_destroy_cq;
    "@@", "ibv_destroy_qp", "IBVERBS_1.1" => verbs::ibv_destroy_qp;
    "@@", "ibv_destroy_srq", "IBVERBS_1.1" => verbs::ibv_destroy_srq;
    "@@", "ibv_detach_mcast", "IBVERBS_1.1" => verbs::ibv_detach_mcast;
    "@@", "ibv_dofork_range", "IBVERBS_1.1" => process::ibv_dofork_range;
    "@@", "ibv_dontfork_range", "IBVERBS_1.1" => process::ibv_dontfork_range;
    "@@", "ibv_event_type_str", "IBVERBS_1.1" => text::ibv_event_type_str;
    "@@", "ibv_fork_init", "IBVERBS_1.1" => process::ibv_fork_init;
    "@@", "ibv_free_device_list", "IBVERBS_1.1" => verbs::ibv_free_device_list;
    "@@", "ibv_get_async_event", "IBVERBS_1.1" => verbs::ibv_get_async_event;
    "@@", "ibv_get_cq_event", "IBVERBS_1.1" => verbs::ibv_get_cq_event;
    "@@", "ibv_get_device_guid", "IBVERBS_1.1" => verbs::ibv_get_device_guid;
    "@@", "ibv_get_device_list", "IBVERBS_1.1" => verbs::ibv_get_device_list;
    "@@", "ibv_get_device_name", "IBVERBS_1.1" => verbs::ibv_get_device_name;
    "@@", "ibv_init_ah_from_wc", "IBVERBS_1.1" => verbs::ibv_init_ah_from_wc;
    "@@", "ibv_modify_qp", "IBVERBS_1.1" => verbs::ibv_modify_qp;
    "@@", "ibv_modify_srq", "IBVERBS_1.1" => verbs::ibv_modify_srq;
    "@@", "ibv_node_type_str", "IBVERBS_1.1" => text::ibv_node_type_str;
    "@@", "ibv_open_device", "IBVERBS_1.1" => verbs::ibv_open_device;
    "@@", "ibv_port_state_str", "IBVERBS_1.1" => text::ibv_port_state_str;
    "@@", "ibv_query_device", "IBVERBS_1.1" => verbs::ibv_query_device;
    "@@", "ibv_query_gid", "IBVERBS_1.1" => verbs::ibv_query_gid;
    "@@", "ibv_query_pkey", "IBVERBS_1.1" => verbs::ibv_query_pkey;
    "@@", "ibv_query_port", "IBVERBS_1.1" => verbs::ibv_query_port;
    "@@", "ibv_query_qp", "IBVERBS_1.1" => verbs::ibv_query_qp;
    "@@", "ibv_query_srq", "IBVERBS_1.1" => verbs::ibv_query_srq;
    "@@", "ibv_rate_to_mbps", "IBVERBS_1.1" => rate::ibv_rate_to_mbps;
    "@@", "ibv_reg_mr", "IBVERBS_1.1" => verbs::ibv_reg_mr;
    "@@", "ibv_rereg_mr", "IBVERBS_1.1" => verbs::ibv_rereg_mr;
    "@@", "ibv_resize_cq", "IBVERBS_1.1" => verbs::ibv_resize_cq;
    "@@", "ibv_resolve_eth_l2_from_gid", "IBVERBS_1.1" => unsupported::error_number;
    "@@", "ibv_wc_status_str", "IBVERBS_1.1" => text::ibv_wc_status_str;
    "@@", "mbps_to_ibv_rate", "IBVERBS_1.1" => rate::mbps_to_ibv_rate;

    "@@", "ibv_get_pkey_index", "IBVERBS_1.5" => verbs::ibv_get_pkey_index;

    "@@", "ibv_qp_to_qp_ex", "IBVERBS_1.6" => verbs::ibv_qp_to_qp_ex;

    "@@", "ibv_reg_mr_iova", "IBVERBS_1.7" => verbs::ibv_reg_mr_iova;

    "@@", "ibv_reg_mr_iova2", "IBVERBS_1.8" => verbs::ibv_reg_mr_iova2;

    "@@", "ibv_get_device_index", "IBVERBS_1.9" => verbs::ibv_get_device_index;

    "@@", "ibv_import_device", "IBVERBS_1.10" => unsupported::null;
    "@@", "ibv_import_mr", "IBVERBS_1.10" => unsupported::null;
    "@@", "ibv_import_pd", "IBVERBS_1.10" => unsupported::null;
    "@@", "ibv_query_ece", "IBVERBS_1.10" => verbs::ibv_query_ece;
    "@@", "ibv_set_ece", "IBVERBS_1.10" => verbs::ibv_set_ece;
    "@@", "ibv_unimport_mr", "IBVERBS_1.10" => unsupported::nothing;
    "@@", "ibv_unimport_pd", "IBVERBS_1.10" => unsupported::nothing;

    "@@", "_ibv_query_gid_ex", "IBVERBS_1.11" => verbs::_ibv_query_gid_ex;
    "@@", "_ibv_query_gid_table", "IBVERBS_1.11" => verbs::_ibv_query_gid_table;

    "@@", "ibv_reg_dmabuf_mr", "IBVERBS_1.12" => verbs::ibv_reg_dmabuf_mr;

    "@@", "ibv_import_dm", "IBVERBS_1.13" => unsupported::null;
    "@@", "ibv_is_fork_initialized", "IBVERBS_1.13" => process::ibv_is_fork_initialized;
    "@@", "ibv_unimport_dm", "IBVERBS_1.13" => unsupported::nothing;

    "@@", "ibv_query_qp_data_in_order", "IBVERBS_1.14" => verbs::ibv_query_qp_data_in_order;
    "@@", "ibv_wr_opcode_str", "IBVERBS_1.14" => text::ibv_wr_opcode_str;

    "@@", "ibv_alloc_dmah", "IBVERBS_1.15" => unsupported::null;
    "@@", "ibv_dealloc_dmah", "IBVERBS_1.15" => unsupported::error_number;
    "@@", "ibv_reg_mr_ex", "IBVERBS_1.15" => verbs::ibv_reg_mr_ex;

    "@@", "ibv_dm_export_dmabuf_fd", "IBVERBS_1.16" => unsupported::minus_one;
    "@@", "ibv_query_port_speed", "IBVERBS_1.16" => unsupported::error_number;

    "@@", "ibv_alloc_buf", "IBVERBS_1.17" => verbs::ibv_alloc_buf;
    "@@", "ibv_free_buf", "IBVERBS_1.17" => verbs::ibv_free_buf;
    "@@", "ibv_reg_buf_mr", "IBVERBS_1.17" => verbs::ibv_reg_buf_mr;

    "@@", "ibv_create_comp_cntr", "IBVERBS_1.18" => unsupported::null;
    "@@", "ibv_destroy_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_inc_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_inc_err_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_qp_attach_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_query_comp_cntr_caps", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_read_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_read_err_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_set_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;
    "@@", "ibv_set_err_comp_cntr", "IBVERBS_1.18" => unsupported::error_number;

    // For drivers outside of rdma-core, which there are none of: new programs cannot be linked to it.
    "@", "ibv_register_driver", "IBVERBS_1.1" => unsupported::nothing;

    // Our own, of include/softrdma.h.
    "@@", "softrdma_context_stat", "SOFTRDMA_1.0" => verbs::softrdma_context_stat;
    "@@", "softrdma_stat", "SOFTRDMA_1.0" => weft_softrdma::uar::capi::softrdma_stat;
}
