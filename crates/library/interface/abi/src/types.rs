//! Handles, the status and the integers of the ABI (MPI-5.0 §20.3).

use std::ffi::c_int;

/// Wide enough for an address: `intptr_t`.
pub type MPI_Aint = isize;
/// A position in a file: `int64_t`.
pub type MPI_Offset = i64;
/// Holds any [`MPI_Aint`] and any [`MPI_Offset`].
pub type MPI_Count = i64;

/// A handle is a pointer to an incomplete struct whose tag the ABI gives (C++ mangles it). Predefined handles are
/// the integers 1..4095; a handle of our own never lies there.
macro_rules! handles {
    ($($handle:ident = $tag:ident;)*) => {$(
        #[repr(C)]
        pub struct $tag {
            opaque: [u8; 0],
        }
        pub type $handle = *mut $tag;
    )*};
}

handles! {
    MPI_Comm = MPI_ABI_Comm;
    MPI_Datatype = MPI_ABI_Datatype;
    MPI_Errhandler = MPI_ABI_Errhandler;
    MPI_File = MPI_ABI_File;
    MPI_Group = MPI_ABI_Group;
    MPI_Info = MPI_ABI_Info;
    MPI_Message = MPI_ABI_Message;
    MPI_Op = MPI_ABI_Op;
    MPI_Request = MPI_ABI_Request;
    MPI_Session = MPI_ABI_Session;
    MPI_Win = MPI_ABI_Win;
    MPI_T_enum = MPI_T_enum_t;
    MPI_T_cvar_handle = MPI_T_cvar_handle_t;
    MPI_T_pvar_handle = MPI_T_pvar_handle_t;
    MPI_T_pvar_session = MPI_T_pvar_session_t;
    MPI_T_event_registration = MPI_T_event_registration_t;
    MPI_T_event_instance = MPI_T_event_instance_t;
}

/// A C enumeration; its values are `MPI_T_CB_*`.
pub type MPI_T_cb_safety = c_int;
/// A C enumeration; its values are `MPI_T_SOURCE_*`.
pub type MPI_T_source_order = c_int;

/// The outcome of a receive or of a request (MPI-5.0 §3.2.5). The layout is the ABI's; what the internal words
/// hold is the library's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MPI_Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    pub MPI_internal: [c_int; 5],
}

const _: () = assert!(size_of::<MPI_Status>() == 32 && align_of::<MPI_Status>() == 4);
