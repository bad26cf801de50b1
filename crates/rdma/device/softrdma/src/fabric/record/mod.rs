//! What stands in segments, as it lies there: made of atomic integers alone, at the offsets of `layout`.

pub mod completion;
pub mod queue_pair;
pub mod receive;
pub mod region;
pub mod xrc;
