//! Calls about the whole process (ibv_fork_init(3)).
//!
//! Registered memory is never pinned: data are moved between addresses of live processes, so a fork leaves the parent's
//! registrations as they are, and nothing has to be kept out of the child.

use std::ffi::{c_int, c_void};

use weft_verbs_abi::{IBV_FORK_UNNEEDED, ibv_fork_status};

pub extern "C" fn ibv_fork_init() -> c_int {
    0
}

pub extern "C" fn ibv_is_fork_initialized() -> ibv_fork_status {
    IBV_FORK_UNNEEDED
}

pub extern "C" fn ibv_dontfork_range(_base: *mut c_void, _size: usize) -> c_int {
    0
}

pub extern "C" fn ibv_dofork_range(_base: *mut c_void, _size: usize) -> c_int {
    0
}
