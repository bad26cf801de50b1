//! The routines whose arguments follow from the table.

weft_abi_macros::fortran_routines! {
    Attr_get, Attr_put, Keyval_create,
    Comm_create_keyval, Comm_get_attr, Comm_set_attr,
    Type_create_keyval, Type_get_attr, Type_set_attr,
    Win_create_keyval, Win_get_attr, Win_set_attr,
    Comm_create_errhandler, File_create_errhandler, Session_create_errhandler, Win_create_errhandler,
    Op_create, Grequest_start, Register_datarep,
    Comm_spawn, Comm_spawn_multiple,
    Info_get, Info_get_string, Session_get_nth_pset,
    Type_get_contents,
}
