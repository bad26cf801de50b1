//! The symbols of rdma-core's librdmacm, by version.

use weft_verbs_abi::export_versioned;

use crate::{
    channel, connect, endpoint, event, identifier, multicast, options, queue_pair, resolve, text,
};

export_versioned! {
    "@@", "rdma_connect", "RDMACM_1.0" => connect::rdma_connect;
    "@@", "rdma_listen", "RDMACM_1.0" => connect::rdma_listen;
    "@@", "rdma_accept", "RDMACM_1.0" => connect::rdma_accept;
    "@@", "rdma_reject", "RDMACM_1.0" => connect::rdma_reject;
    "@@", "rdma_establish", "RDMACM_1.2" => connect::rdma_establish;
    "@@", "rdma_disconnect", "RDMACM_1.0" => connect::rdma_disconnect;
    "@@", "rdma_reject_ece", "RDMACM_1.3" => connect::rdma_reject;
    "@@", "rdma_create_event_channel", "RDMACM_1.0" => channel::rdma_create_event_channel;
    "@@", "rdma_destroy_event_channel", "RDMACM_1.0" => channel::rdma_destroy_event_channel;
    "@@", "rdma_get_cm_event", "RDMACM_1.0" => event::rdma_get_cm_event;
    "@@", "rdma_ack_cm_event", "RDMACM_1.0" => identifier::rdma_ack_cm_event;
    "@@", "rdma_create_id", "RDMACM_1.0" => identifier::rdma_create_id;
    "@@", "rdma_destroy_id", "RDMACM_1.0" => identifier::rdma_destroy_id;
    "@@", "rdma_bind_addr", "RDMACM_1.0" => identifier::rdma_bind_addr;
    "@@", "rdma_resolve_addr", "RDMACM_1.0" => resolve::rdma_resolve_addr;
    "@@", "rdma_resolve_route", "RDMACM_1.0" => resolve::rdma_resolve_route;
    "@@", "rdma_migrate_id", "RDMACM_1.0" => identifier::rdma_migrate_id;
    "@@", "rdma_create_qp", "RDMACM_1.0" => queue_pair::rdma_create_qp;
    "@@", "rdma_create_qp_ex", "RDMACM_1.0" => queue_pair::rdma_create_qp_ex;
    "@@", "rdma_destroy_qp", "RDMACM_1.0" => queue_pair::rdma_destroy_qp;
    "@@", "rdma_create_srq", "RDMACM_1.0" => queue_pair::rdma_create_srq;
    "@@", "rdma_destroy_srq", "RDMACM_1.0" => queue_pair::rdma_destroy_srq;
    "@@", "rdma_init_qp_attr", "RDMACM_1.2" => queue_pair::rdma_init_qp_attr;
    "@@", "rdma_getaddrinfo", "RDMACM_1.0" => endpoint::rdma_getaddrinfo;
    "@@", "rdma_freeaddrinfo", "RDMACM_1.0" => endpoint::rdma_freeaddrinfo;
    "@@", "rdma_create_ep", "RDMACM_1.0" => endpoint::rdma_create_ep;
    "@@", "rdma_destroy_ep", "RDMACM_1.0" => endpoint::rdma_destroy_ep;
    "@@", "rdma_get_request", "RDMACM_1.0" => endpoint::rdma_get_request;
    "@@", "rdma_get_devices", "RDMACM_1.0" => endpoint::rdma_get_devices;
    "@@", "rdma_free_devices", "RDMACM_1.0" => endpoint::rdma_free_devices;
    "@@", "rdma_set_option", "RDMACM_1.0" => options::rdma_set_option;
    "@@", "rdma_get_src_port", "RDMACM_1.0" => options::rdma_get_src_port;
    "@@", "rdma_get_dst_port", "RDMACM_1.0" => options::rdma_get_dst_port;
    "@@", "rdma_notify", "RDMACM_1.0" => options::rdma_notify;
    "@@", "rdma_set_local_ece", "RDMACM_1.3" => options::rdma_set_local_ece;
    "@@", "rdma_get_remote_ece", "RDMACM_1.3" => options::rdma_get_remote_ece;
    "@@", "rpoll", "RDMACM_1.0" => options::rpoll;
    "@@", "rdma_create_srq_ex", "RDMACM_1.0" => options::unsupported;
    "@@", "rdma_join_multicast", "RDMACM_1.0" => multicast::rdma_join_multicast;
    "@@", "rdma_join_multicast_ex", "RDMACM_1.1" => multicast::rdma_join_multicast_ex;
    "@@", "rdma_leave_multicast", "RDMACM_1.0" => multicast::rdma_leave_multicast;
    "@@", "raccept", "RDMACM_1.0" => options::unsupported;
    "@@", "rbind", "RDMACM_1.0" => options::unsupported;
    "@@", "rclose", "RDMACM_1.0" => options::unsupported;
    "@@", "rconnect", "RDMACM_1.0" => options::unsupported;
    "@@", "rfcntl", "RDMACM_1.0" => options::unsupported;
    "@@", "rgetpeername", "RDMACM_1.0" => options::unsupported;
    "@@", "rgetsockname", "RDMACM_1.0" => options::unsupported;
    "@@", "rgetsockopt", "RDMACM_1.0" => options::unsupported;
    "@@", "riomap", "RDMACM_1.0" => options::unsupported;
    "@@", "riounmap", "RDMACM_1.0" => options::unsupported;
    "@@", "riowrite", "RDMACM_1.0" => options::unsupported;
    "@@", "rlisten", "RDMACM_1.0" => options::unsupported;
    "@@", "rread", "RDMACM_1.0" => options::unsupported;
    "@@", "rreadv", "RDMACM_1.0" => options::unsupported;
    "@@", "rrecv", "RDMACM_1.0" => options::unsupported;
    "@@", "rrecvfrom", "RDMACM_1.0" => options::unsupported;
    "@@", "rrecvmsg", "RDMACM_1.0" => options::unsupported;
    "@@", "rselect", "RDMACM_1.0" => options::unsupported;
    "@@", "rsend", "RDMACM_1.0" => options::unsupported;
    "@@", "rsendmsg", "RDMACM_1.0" => options::unsupported;
    "@@", "rsendto", "RDMACM_1.0" => options::unsupported;
    "@@", "rsetsockopt", "RDMACM_1.0" => options::unsupported;
    "@@", "rshutdown", "RDMACM_1.0" => options::unsupported;
    "@@", "rsocket", "RDMACM_1.0" => options::unsupported;
    "@@", "rwrite", "RDMACM_1.0" => options::unsupported;
    "@@", "rwritev", "RDMACM_1.0" => options::unsupported;
    "@@", "rdma_event_str", "RDMACM_1.0" => text::rdma_event_str;
}
