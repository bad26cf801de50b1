//! The functions whose conversions follow from the table.

use mpi_abi::lengths;
use weft_foreign::convert;

use crate::kinds;

weft_abi_macros::foreign_functions! {
    Abi_get_version,
    Attr_get, Comm_get_attr, Error_class, Win_get_attr,
    Comm_spawn, Comm_spawn_multiple,
    Comm_fromint, Comm_toint, Errhandler_fromint, Errhandler_toint, File_fromint, File_toint,
    Group_fromint, Group_toint, Info_fromint, Info_toint, Message_fromint, Message_toint,
    Op_fromint, Op_toint, Request_fromint, Request_toint, Session_fromint, Session_toint,
    Type_fromint, Type_toint, Win_fromint, Win_toint,
    Info_get_nthkey,
    Precv_init, Psend_init,
    T_event_get_info,
    Type_create_struct, Type_get_contents,
}
