//! Loading `libibverbs.so.1` at run time, so that a program starts on machines that have none.
//!
//! Symbols are looked up by name alone, which gives their default versions: those that the types of this crate belong
//! to. What rdma-core had by its release 28 must be there; newer calls may be missing, and are `None` then.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt;

use crate::*;

/// rdma-core's library, or one in its place.
pub const LIBRARY: &CStr = c"libibverbs.so.1";

/// Why a library cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The loader's own words.
    NotLoaded(String),
    Missing {
        library: String,
        symbols: Vec<&'static str>,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::NotLoaded(reason) => write!(formatter, "{reason}"),
            LoadError::Missing { library, symbols } => {
                write!(formatter, "{library} lacks {}", symbols.join(", "))
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// `required` and `optional` functions by their C names, without the prefix `ibv_`.
macro_rules! library {
    (
        required { $($name:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)* }
        optional { $($newer:ident = $newer_symbol:literal: fn($($newer_argument:ty),*) $(-> $newer_result:ty)?;)* }
    ) => {
        /// The functions of a loaded library, which stays loaded: its devices run threads and hold callbacks.
        ///
        /// # Safety
        /// Of all functions: as C's documentation demands, see also [`inline`].
        #[derive(Clone, Copy)]
        pub struct Library {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub $newer: Option<unsafe extern "C" fn($($newer_argument),*) $(-> $newer_result)?>,)*
        }

        impl Library {
            fn from_handle(handle: *mut c_void, library: &CStr) -> Result<Library, LoadError> {
                let mut missing = Vec::new();
                $(
                    let $name = symbol(handle, $symbol);
                    if $name.is_null() {
                        missing.push($symbol.to_str().unwrap_or_default());
                    }
                )*
                if !missing.is_empty() {
                    return Err(LoadError::Missing {
                        library: library.to_string_lossy().into_owned(),
                        symbols: missing,
                    });
                }
                // SAFETY: symbols of these names are functions of these types in every library of this ABI. The required
                // ones are not null, and a null pointer is `None`.
                Ok(unsafe {
                    Library {
                        $($name: core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>($name),)*
                        $($newer: core::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($newer_argument),*) $(-> $newer_result)?>>(symbol(handle, $newer_symbol)),)*
                    }
                })
            }
        }
    };
}

library! {
    required {
        get_device_list = c"ibv_get_device_list": fn(*mut c_int) -> *mut *mut ibv_device;
        free_device_list = c"ibv_free_device_list": fn(*mut *mut ibv_device);
        get_device_name = c"ibv_get_device_name": fn(*mut ibv_device) -> *const c_char;
        get_device_guid = c"ibv_get_device_guid": fn(*mut ibv_device) -> u64;
        open_device = c"ibv_open_device": fn(*mut ibv_device) -> *mut ibv_context;
        close_device = c"ibv_close_device": fn(*mut ibv_context) -> c_int;
        query_device = c"ibv_query_device": fn(*mut ibv_context, *mut ibv_device_attr) -> c_int;
        compat_query_port = c"ibv_query_port": fn(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
        query_gid = c"ibv_query_gid": fn(*mut ibv_context, u8, c_int, *mut ibv_gid) -> c_int;
        query_pkey = c"ibv_query_pkey": fn(*mut ibv_context, u8, c_int, *mut u16) -> c_int;
        get_async_event = c"ibv_get_async_event": fn(*mut ibv_context, *mut ibv_async_event) -> c_int;
        ack_async_event = c"ibv_ack_async_event": fn(*mut ibv_async_event);
        alloc_pd = c"ibv_alloc_pd": fn(*mut ibv_context) -> *mut ibv_pd;
        dealloc_pd = c"ibv_dealloc_pd": fn(*mut ibv_pd) -> c_int;
        plain_reg_mr = c"ibv_reg_mr": fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
        reg_mr_iova2 = c"ibv_reg_mr_iova2": fn(*mut ibv_pd, *mut c_void, usize, u64, ibv_access_flags) -> *mut ibv_mr;
        rereg_mr = c"ibv_rereg_mr": fn(*mut ibv_mr, c_int, *mut ibv_pd, *mut c_void, usize, c_int) -> c_int;
        dereg_mr = c"ibv_dereg_mr": fn(*mut ibv_mr) -> c_int;
        create_comp_channel = c"ibv_create_comp_channel": fn(*mut ibv_context) -> *mut ibv_comp_channel;
        destroy_comp_channel = c"ibv_destroy_comp_channel": fn(*mut ibv_comp_channel) -> c_int;
        create_cq = c"ibv_create_cq": fn(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq;
        resize_cq = c"ibv_resize_cq": fn(*mut ibv_cq, c_int) -> c_int;
        destroy_cq = c"ibv_destroy_cq": fn(*mut ibv_cq) -> c_int;
        get_cq_event = c"ibv_get_cq_event": fn(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int;
        ack_cq_events = c"ibv_ack_cq_events": fn(*mut ibv_cq, u32);
        create_srq = c"ibv_create_srq": fn(*mut ibv_pd, *mut ibv_srq_init_attr) -> *mut ibv_srq;
        modify_srq = c"ibv_modify_srq": fn(*mut ibv_srq, *mut ibv_srq_attr, c_int) -> c_int;
        query_srq = c"ibv_query_srq": fn(*mut ibv_srq, *mut ibv_srq_attr) -> c_int;
        destroy_srq = c"ibv_destroy_srq": fn(*mut ibv_srq) -> c_int;
        create_qp = c"ibv_create_qp": fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp;
        modify_qp = c"ibv_modify_qp": fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int;
        query_qp = c"ibv_query_qp": fn(*mut ibv_qp, *mut ibv_qp_attr, c_int, *mut ibv_qp_init_attr) -> c_int;
        destroy_qp = c"ibv_destroy_qp": fn(*mut ibv_qp) -> c_int;
        qp_to_qp_ex = c"ibv_qp_to_qp_ex": fn(*mut ibv_qp) -> *mut ibv_qp_ex;
        create_ah = c"ibv_create_ah": fn(*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah;
        init_ah_from_wc = c"ibv_init_ah_from_wc": fn(*mut ibv_context, u8, *mut ibv_wc, *mut ibv_grh, *mut ibv_ah_attr) -> c_int;
        create_ah_from_wc = c"ibv_create_ah_from_wc": fn(*mut ibv_pd, *mut ibv_wc, *mut ibv_grh, u8) -> *mut ibv_ah;
        destroy_ah = c"ibv_destroy_ah": fn(*mut ibv_ah) -> c_int;
        attach_mcast = c"ibv_attach_mcast": fn(*mut ibv_qp, *const ibv_gid, u16) -> c_int;
        detach_mcast = c"ibv_detach_mcast": fn(*mut ibv_qp, *const ibv_gid, u16) -> c_int;
        fork_init = c"ibv_fork_init": fn() -> c_int;
        wc_status_str = c"ibv_wc_status_str": fn(ibv_wc_status) -> *const c_char;
        event_type_str = c"ibv_event_type_str": fn(ibv_event_type) -> *const c_char;
        port_state_str = c"ibv_port_state_str": fn(ibv_port_state) -> *const c_char;
    }
    optional {
        get_device_index = c"ibv_get_device_index": fn(*mut ibv_device) -> c_int;
        query_ece = c"ibv_query_ece": fn(*mut ibv_qp, *mut ibv_ece) -> c_int;
        set_ece = c"ibv_set_ece": fn(*mut ibv_qp, *mut ibv_ece) -> c_int;
        sized_query_gid_ex = c"_ibv_query_gid_ex": fn(*mut ibv_context, u32, u32, *mut ibv_gid_entry, u32, usize) -> c_int;
        reg_dmabuf_mr = c"ibv_reg_dmabuf_mr": fn(*mut ibv_pd, u64, usize, u64, c_int, c_int) -> *mut ibv_mr;
        query_qp_data_in_order = c"ibv_query_qp_data_in_order": fn(*mut ibv_qp, ibv_wr_opcode, u32) -> c_int;
        reg_mr_ex = c"ibv_reg_mr_ex": fn(*mut ibv_pd, *mut ibv_mr_init_attr) -> *mut ibv_mr;
        alloc_buf = c"ibv_alloc_buf": fn(*mut ibv_pd, usize, *mut *mut ibv_buf) -> *mut c_void;
        free_buf = c"ibv_free_buf": fn(*mut ibv_buf);
        reg_buf_mr = c"ibv_reg_buf_mr": fn(*mut ibv_pd, *mut ibv_buf, *mut c_void, usize, c_int) -> *mut ibv_mr;
        softrdma_context_stat = c"softrdma_context_stat": fn(*mut ibv_context, *mut softrdma_stat, usize) -> c_int;
    }
}

fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle of dlopen and a name that ends with a zero.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

impl Library {
    /// Loads the system's library, or the one that `LD_LIBRARY_PATH` puts in its place.
    pub fn load() -> Result<Library, LoadError> {
        Library::load_from(LIBRARY)
    }

    /// Loads a library by name or path.
    pub fn load_from(library: &CStr) -> Result<Library, LoadError> {
        // SAFETY: loading a library of this ABI runs its initialisers only.
        let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: after a failure the loader has a text for this thread, good until its next call.
            let reason = unsafe { CStr::from_ptr(libc::dlerror()) };
            return Err(LoadError::NotLoaded(reason.to_string_lossy().into_owned()));
        }
        let loaded = Library::from_handle(handle, library);
        if loaded.is_err() {
            // SAFETY: nothing of it is kept.
            unsafe { libc::dlclose(handle) };
        }
        loaded
    }
}
