//! Names of values (ibv_wc_status_str(3), ibv_event_type_str(3)), as rdma-core words them: people search for these.

use std::ffi::{CStr, c_char};

use weft_verbs_abi::*;

const UNKNOWN: &CStr = c"unknown";

fn node_type(node_type: ibv_node_type) -> &'static CStr {
    match node_type {
        IBV_NODE_CA => c"InfiniBand channel adapter",
        IBV_NODE_SWITCH => c"InfiniBand switch",
        IBV_NODE_ROUTER => c"InfiniBand router",
        IBV_NODE_RNIC => c"iWARP NIC",
        IBV_NODE_USNIC => c"usNIC",
        IBV_NODE_USNIC_UDP => c"usNIC UDP",
        IBV_NODE_UNSPECIFIED => c"unspecified",
        _ => UNKNOWN,
    }
}

fn port_state(state: ibv_port_state) -> &'static CStr {
    match state {
        IBV_PORT_NOP => c"no state change (NOP)",
        IBV_PORT_DOWN => c"down",
        IBV_PORT_INIT => c"init",
        IBV_PORT_ARMED => c"armed",
        IBV_PORT_ACTIVE => c"active",
        IBV_PORT_ACTIVE_DEFER => c"active defer",
        _ => UNKNOWN,
    }
}

fn event_type(event: ibv_event_type) -> &'static CStr {
    match event {
        IBV_EVENT_CQ_ERR => c"CQ error",
        IBV_EVENT_QP_FATAL => c"local work queue catastrophic error",
        IBV_EVENT_QP_REQ_ERR => c"invalid request local work queue error",
        IBV_EVENT_QP_ACCESS_ERR => c"local access violation work queue error",
        IBV_EVENT_COMM_EST => c"communication established",
        IBV_EVENT_SQ_DRAINED => c"send queue drained",
        IBV_EVENT_PATH_MIG => c"path migrated",
        IBV_EVENT_PATH_MIG_ERR => c"path migration request error",
        IBV_EVENT_DEVICE_FATAL => c"local catastrophic error",
        IBV_EVENT_PORT_ACTIVE => c"port active",
        IBV_EVENT_PORT_ERR => c"port error",
        IBV_EVENT_LID_CHANGE => c"LID change",
        IBV_EVENT_PKEY_CHANGE => c"P_Key change",
        IBV_EVENT_SM_CHANGE => c"SM change",
        IBV_EVENT_SRQ_ERR => c"SRQ catastrophic error",
        IBV_EVENT_SRQ_LIMIT_REACHED => c"SRQ limit reached",
        IBV_EVENT_QP_LAST_WQE_REACHED => c"last WQE reached",
        IBV_EVENT_CLIENT_REREGISTER => c"client reregistration",
        IBV_EVENT_GID_CHANGE => c"GID table change",
        IBV_EVENT_WQ_FATAL => c"WQ fatal",
        IBV_EVENT_DEVICE_SPEED_CHANGE => c"device speed change",
        _ => UNKNOWN,
    }
}

fn wc_status(status: ibv_wc_status) -> &'static CStr {
    match status {
        IBV_WC_SUCCESS => c"success",
        IBV_WC_LOC_LEN_ERR => c"local length error",
        IBV_WC_LOC_QP_OP_ERR => c"local QP operation error",
        IBV_WC_LOC_EEC_OP_ERR => c"local EE context operation error",
        IBV_WC_LOC_PROT_ERR => c"local protection error",
        IBV_WC_WR_FLUSH_ERR => c"Work Request Flushed Error",
        IBV_WC_MW_BIND_ERR => c"memory management operation error",
        IBV_WC_BAD_RESP_ERR => c"bad response error",
        IBV_WC_LOC_ACCESS_ERR => c"local access error",
        IBV_WC_REM_INV_REQ_ERR => c"remote invalid request error",
        IBV_WC_REM_ACCESS_ERR => c"remote access error",
        IBV_WC_REM_OP_ERR => c"remote operation error",
        IBV_WC_RETRY_EXC_ERR => c"transport retry counter exceeded",
        IBV_WC_RNR_RETRY_EXC_ERR => c"RNR retry counter exceeded",
        IBV_WC_LOC_RDD_VIOL_ERR => c"local RDD violation error",
        IBV_WC_REM_INV_RD_REQ_ERR => c"remote invalid RD request",
        IBV_WC_REM_ABORT_ERR => c"aborted error",
        IBV_WC_INV_EECN_ERR => c"invalid EE context number",
        IBV_WC_INV_EEC_STATE_ERR => c"invalid EE context state",
        IBV_WC_FATAL_ERR => c"fatal error",
        IBV_WC_RESP_TIMEOUT_ERR => c"response timeout error",
        IBV_WC_GENERAL_ERR => c"general error",
        IBV_WC_TM_ERR => c"TM error",
        IBV_WC_TM_RNDV_INCOMPLETE => c"TM software rendezvous",
        _ => UNKNOWN,
    }
}

fn wr_opcode(opcode: ibv_wr_opcode) -> &'static CStr {
    match opcode {
        IBV_WR_RDMA_WRITE => c"IBV_WR_RDMA_WRITE",
        IBV_WR_RDMA_WRITE_WITH_IMM => c"IBV_WR_RDMA_WRITE_WITH_IMM",
        IBV_WR_SEND => c"IBV_WR_SEND",
        IBV_WR_SEND_WITH_IMM => c"IBV_WR_SEND_WITH_IMM",
        IBV_WR_RDMA_READ => c"IBV_WR_RDMA_READ",
        IBV_WR_ATOMIC_CMP_AND_SWP => c"IBV_WR_ATOMIC_CMP_AND_SWP",
        IBV_WR_ATOMIC_FETCH_AND_ADD => c"IBV_WR_ATOMIC_FETCH_AND_ADD",
        IBV_WR_LOCAL_INV => c"IBV_WR_LOCAL_INV",
        IBV_WR_BIND_MW => c"IBV_WR_BIND_MW",
        IBV_WR_SEND_WITH_INV => c"IBV_WR_SEND_WITH_INV",
        IBV_WR_TSO => c"IBV_WR_TSO",
        IBV_WR_DRIVER1 => c"IBV_WR_DRIVER1",
        IBV_WR_FLUSH => c"IBV_WR_FLUSH",
        IBV_WR_ATOMIC_WRITE => c"IBV_WR_ATOMIC_WRITE",
        _ => UNKNOWN,
    }
}

pub extern "C" fn ibv_node_type_str(value: ibv_node_type) -> *const c_char {
    node_type(value).as_ptr()
}

pub extern "C" fn ibv_port_state_str(value: ibv_port_state) -> *const c_char {
    port_state(value).as_ptr()
}

pub extern "C" fn ibv_event_type_str(value: ibv_event_type) -> *const c_char {
    event_type(value).as_ptr()
}

pub extern "C" fn ibv_wc_status_str(value: ibv_wc_status) -> *const c_char {
    wc_status(value).as_ptr()
}

pub extern "C" fn ibv_wr_opcode_str(value: ibv_wr_opcode) -> *const c_char {
    wr_opcode(value).as_ptr()
}
