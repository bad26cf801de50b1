//! Every function that is not implemented, by chapter of the standard: all there are, for `cargo xtask coverage` counts.
//!
//! A call reports MPI_ERR_UNSUPPORTED_OPERATION, with the function's name, to the error handler.

use weft_abi_macros::unsupported;

unsupported! {
    // 11. Process initialization, creation and management
    Close_port, Comm_accept, Comm_connect, Comm_join, Comm_spawn, Comm_spawn_multiple, Lookup_name,
    Open_port, Publish_name, Unpublish_name,
}
