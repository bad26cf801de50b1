//! Completion queues.

mod calls;
mod event;
mod extended;
mod object;
mod poll;

pub use calls::{
    create_cq_ex, ibv_create_cq, ibv_destroy_cq, ibv_resize_cq, modify_cq, req_notify_cq,
};
pub use event::{ibv_ack_cq_events, ibv_get_cq_event};
pub use object::Cq;
pub use poll::poll_cq;
