//! Queue pairs: creation, states, posting.

mod builder;
mod create;
mod modify;
mod object;
mod query;
mod receive;
mod transition;

pub use builder::ibv_qp_to_qp_ex;
pub use create::{create_qp_ex, ibv_create_qp, ibv_destroy_qp, open_qp};
pub use modify::ibv_modify_qp;
pub use object::Qp;
pub use query::{ibv_query_qp, ibv_query_qp_data_in_order};
pub use receive::post_recv;
