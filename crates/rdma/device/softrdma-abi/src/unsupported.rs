//! What the device does not have. The answers are those of rdma-core for a device without: an error number, or a null
//! pointer and `errno`.
//!
//! These functions stand for many, with many different arguments: none of which they look at, as C's calling
//! convention allows.

use std::ffi::{c_int, c_void};

use weft_softrdma::call::Errno;

/// For calls that return an error number.
pub extern "C" fn error_number() -> c_int {
    Errno::EOPNOTSUPP.set();
    Errno::EOPNOTSUPP.0
}

/// For calls that return an object.
pub extern "C" fn null() -> *mut c_void {
    Errno::EOPNOTSUPP.set();
    std::ptr::null_mut()
}

/// For calls that return a descriptor or a length.
pub extern "C" fn minus_one() -> c_int {
    Errno::EOPNOTSUPP.set();
    -1
}

/// For calls that return nothing: giving back what can never have been had.
pub extern "C" fn nothing() {}

/// For queries of capabilities: there are none.
pub extern "C" fn zero() -> c_int {
    0
}
