//! The private symbols: what rdma-core's own libraries and vendor drivers import.
//!
//! Programs that are linked to libmlx5 or libefa do not start unless all of these are found, though none is called for a
//! device that is not theirs. Private symbols carry the version of the release that the importing library belongs to,
//! so each is there once for each.

use core::arch::global_asm;

use weft_softrdma::verbs;
use weft_verbs_abi::{export_versioned, versioned_symbol};

use crate::unsupported;

macro_rules! export_private {
    ($($name:literal => $function:path;)*) => {
        export_versioned! {
            $("@@", $name, "IBVERBS_PRIVATE_34" => $function;)*
            $("@", $name, "IBVERBS_PRIVATE_57" => $function;)*
            $("@", $name, "IBVERBS_PRIVATE_59" => $function;)*
            $("@", $name, "IBVERBS_PRIVATE_64" => $function;)*
            $("@", $name, "IBVERBS_PRIVATE_65" => $function;)*
        }
    };
}

export_private! {
    "__ioctl_final_num_attrs" => unsupported::zero;
    "__verbs_log" => unsupported::nothing;
    "_verbs_init_and_alloc_context" => unsupported::null;
    "execute_ioctl" => unsupported::error_number;
    "ibv_cmd_advise_mr" => unsupported::error_number;
    "ibv_cmd_alloc_dm" => unsupported::error_number;
    "ibv_cmd_alloc_mw" => unsupported::error_number;
    "ibv_cmd_alloc_pd" => unsupported::error_number;
    "ibv_cmd_attach_mcast" => unsupported::error_number;
    "ibv_cmd_close_xrcd" => unsupported::error_number;
    "ibv_cmd_create_ah" => unsupported::error_number;
    "ibv_cmd_create_counters" => unsupported::error_number;
    "ibv_cmd_create_cq" => unsupported::error_number;
    "ibv_cmd_create_cq_ex" => unsupported::error_number;
    "ibv_cmd_create_flow" => unsupported::error_number;
    "ibv_cmd_create_flow_action_esp" => unsupported::error_number;
    "ibv_cmd_create_qp" => unsupported::error_number;
    "ibv_cmd_create_qp_ex" => unsupported::error_number;
    "ibv_cmd_create_qp_ex2" => unsupported::error_number;
    "ibv_cmd_create_rwq_ind_table" => unsupported::error_number;
    "ibv_cmd_create_srq" => unsupported::error_number;
    "ibv_cmd_create_srq_ex" => unsupported::error_number;
    "ibv_cmd_create_wq" => unsupported::error_number;
    "ibv_cmd_dealloc_mw" => unsupported::error_number;
    "ibv_cmd_dealloc_pd" => unsupported::error_number;
    "ibv_cmd_dereg_mr" => unsupported::error_number;
    "ibv_cmd_destroy_ah" => unsupported::error_number;
    "ibv_cmd_destroy_counters" => unsupported::error_number;
    "ibv_cmd_destroy_cq" => unsupported::error_number;
    "ibv_cmd_destroy_flow" => unsupported::error_number;
    "ibv_cmd_destroy_flow_action" => unsupported::error_number;
    "ibv_cmd_destroy_qp" => unsupported::error_number;
    "ibv_cmd_destroy_rwq_ind_table" => unsupported::error_number;
    "ibv_cmd_destroy_srq" => unsupported::error_number;
    "ibv_cmd_destroy_wq" => unsupported::error_number;
    "ibv_cmd_detach_mcast" => unsupported::error_number;
    "ibv_cmd_free_dm" => unsupported::error_number;
    "ibv_cmd_get_context" => unsupported::error_number;
    "ibv_cmd_modify_cq" => unsupported::error_number;
    "ibv_cmd_modify_flow_action_esp" => unsupported::error_number;
    "ibv_cmd_modify_qp" => unsupported::error_number;
    "ibv_cmd_modify_qp_ex" => unsupported::error_number;
    "ibv_cmd_modify_srq" => unsupported::error_number;
    "ibv_cmd_modify_wq" => unsupported::error_number;
    "ibv_cmd_open_qp" => unsupported::error_number;
    "ibv_cmd_open_xrcd" => unsupported::error_number;
    "ibv_cmd_poll_cq" => unsupported::error_number;
    "ibv_cmd_post_recv" => unsupported::error_number;
    "ibv_cmd_post_send" => unsupported::error_number;
    "ibv_cmd_post_srq_recv" => unsupported::error_number;
    "ibv_cmd_query_context" => unsupported::error_number;
    "ibv_cmd_query_device_any" => unsupported::error_number;
    "ibv_cmd_query_mr" => unsupported::error_number;
    "ibv_cmd_query_port" => unsupported::error_number;
    "ibv_cmd_query_qp" => unsupported::error_number;
    "ibv_cmd_query_srq" => unsupported::error_number;
    "ibv_cmd_read_counters" => unsupported::error_number;
    "ibv_cmd_reg_dm_mr" => unsupported::error_number;
    "ibv_cmd_reg_dmabuf_mr" => unsupported::error_number;
    "ibv_cmd_reg_mr" => unsupported::error_number;
    "ibv_cmd_req_notify_cq" => unsupported::error_number;
    "ibv_cmd_rereg_mr" => unsupported::error_number;
    "ibv_cmd_resize_cq" => unsupported::error_number;
    "ibv_query_gid_type" => verbs::ibv_query_gid_type;
    "ibv_read_ibdev_sysfs_file" => unsupported::minus_one;
    "verbs_init_cq" => unsupported::error_number;
    "verbs_open_device" => unsupported::null;
    "verbs_set_ops" => unsupported::nothing;
    "verbs_uninit_context" => unsupported::nothing;
}

// A driver that registers itself is not asked for devices: ours are the only ones.
export_versioned! {
    "@@", "verbs_register_driver_34", "IBVERBS_PRIVATE_34" => unsupported::nothing;
    "@@", "verbs_register_driver_57", "IBVERBS_PRIVATE_57" => unsupported::nothing;
    "@@", "verbs_register_driver_59", "IBVERBS_PRIVATE_59" => unsupported::nothing;
    "@@", "verbs_register_driver_64", "IBVERBS_PRIVATE_64" => unsupported::nothing;
    "@@", "verbs_register_driver_65", "IBVERBS_PRIVATE_65" => unsupported::nothing;
}

// A `bool` that vendor libraries read.
global_asm!(
    versioned_symbol!(
        "@@",
        "verbs_allow_disassociate_destroy",
        "IBVERBS_PRIVATE_34",
        ".rodata",
        "a",
        "object",
        ".byte 0"
    ),
    versioned_symbol!(
        "@",
        "verbs_allow_disassociate_destroy",
        "IBVERBS_PRIVATE_57",
        ".rodata",
        "a",
        "object",
        ".byte 0"
    ),
    versioned_symbol!(
        "@",
        "verbs_allow_disassociate_destroy",
        "IBVERBS_PRIVATE_59",
        ".rodata",
        "a",
        "object",
        ".byte 0"
    ),
    versioned_symbol!(
        "@",
        "verbs_allow_disassociate_destroy",
        "IBVERBS_PRIVATE_64",
        ".rodata",
        "a",
        "object",
        ".byte 0"
    ),
    versioned_symbol!(
        "@",
        "verbs_allow_disassociate_destroy",
        "IBVERBS_PRIVATE_65",
        ".rodata",
        "a",
        "object",
        ".byte 0"
    ),
);
