//! How much of everything a device has, and its one port.

use weft_verbs_abi::{IBV_MTU_4096, ibv_mtu};

pub const MAX_QP: u32 = 1 << 16;
pub const MAX_QP_WR: u32 = 1 << 15;
pub const MAX_SGE: u32 = 32;
pub const MAX_INLINE: u32 = 1024;
pub const MAX_CQ: u32 = 1 << 16;
pub const MAX_CQE: u32 = 1 << 18;
pub const MAX_MR: u32 = 1 << 16;
pub const MAX_MR_BYTES: u64 = 1 << 46;
pub const MAX_SRQ: u32 = 1 << 16;
pub const MAX_RD_ATOMIC: u8 = 16;

pub const PORT: u8 = 1;
pub const ACTIVE_MTU: ibv_mtu = IBV_MTU_4096;
pub const MAX_MESSAGE_BYTES: u32 = weft_roce::MAX_MESSAGE_BYTES as u32;
