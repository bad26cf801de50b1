//! Every function that is not implemented, by chapter of the standard: all there are, for `cargo xtask coverage` counts.
//!
//! A call reports MPI_ERR_UNSUPPORTED_OPERATION, with the function's name, to the error handler.

use weft_abi_macros::unsupported;

unsupported! {
    // 11. Process initialization, creation and management
    Close_port, Comm_accept, Comm_connect, Comm_join, Comm_spawn, Comm_spawn_multiple, Lookup_name,
    Open_port, Publish_name, Unpublish_name,
    // 14. I/O
    File_close, File_delete, File_get_amode, File_get_atomicity, File_get_byte_offset, File_get_group,
    File_get_info, File_get_position, File_get_position_shared, File_get_size, File_get_type_extent, File_get_view,
    File_iread, File_iread_all, File_iread_at, File_iread_at_all, File_iread_shared, File_iwrite, File_iwrite_all,
    File_iwrite_at, File_iwrite_at_all, File_iwrite_shared, File_open, File_preallocate, File_read, File_read_all,
    File_read_all_begin, File_read_all_end, File_read_at, File_read_at_all, File_read_at_all_begin,
    File_read_at_all_end, File_read_ordered, File_read_ordered_begin, File_read_ordered_end, File_read_shared,
    File_seek, File_seek_shared, File_set_atomicity, File_set_info, File_set_size, File_set_view, File_sync,
    File_write, File_write_all, File_write_all_begin, File_write_all_end, File_write_at, File_write_at_all,
    File_write_at_all_begin, File_write_at_all_end, File_write_ordered, File_write_ordered_begin,
    File_write_ordered_end, File_write_shared, Register_datarep,
}
