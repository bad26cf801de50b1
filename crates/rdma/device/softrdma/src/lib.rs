//! An RDMA device in software.
//!
//! Verbs objects, their data path and the resource model of an mlx5 adapter, in user space: no kernel module, no daemon, no
//! privileges. `softrdma-abi` exports it as `libibverbs.so.1`.

pub mod call;
pub mod config;
pub mod fabric;
pub mod fault;
mod identity;
pub mod path;
pub mod uar;
mod users;
pub mod verbs;

pub use uar::stat;
