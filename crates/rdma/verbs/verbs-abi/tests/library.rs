//! Loading a library: the system's where there is one, and ones that are of no use.

use weft_verbs_abi::{Library, LoadError};

#[test]
fn what_is_not_there_is_told_by_name() {
    let Err(LoadError::NotLoaded(reason)) = Library::load_from(c"libno-such-verbs.so.1") else {
        panic!("there is such a library");
    };
    assert!(reason.contains("libno-such-verbs.so.1"), "{reason}");
}

#[test]
fn what_is_no_verbs_library_is_told_with_what_it_lacks() {
    let Err(error) = Library::load_from(c"libc.so.6") else {
        panic!("the C library has verbs");
    };
    let text = error.to_string();
    assert!(
        text.starts_with("libc.so.6 lacks ibv_get_device_list, "),
        "{text}"
    );
    assert!(
        !text.contains("ibv_alloc_buf"),
        "newer calls are optional: {text}"
    );
}

#[test]
fn the_systems_library_answers() {
    let library = match Library::load() {
        Ok(library) => library,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            eprintln!("NOT TESTED: {error}");
            return;
        }
    };
    // SAFETY: any value has a text, and a list is given back once.
    unsafe {
        let text = (library.wc_status_str)(weft_verbs_abi::IBV_WC_RETRY_EXC_ERR);
        let text = std::ffi::CStr::from_ptr(text);
        assert_eq!(text, c"transport retry counter exceeded");
        let mut count = -1;
        let list = (library.get_device_list)(&raw mut count);
        assert!(list.is_null() || count >= 0);
        if !list.is_null() {
            (library.free_device_list)(list);
        }
    }
}
