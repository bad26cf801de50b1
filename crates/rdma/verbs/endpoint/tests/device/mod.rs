//! The device in software, loaded as programs load it: the library that cargo built for these tests.

use std::path::Path;
use std::sync::OnceLock;

use weft_verbs::abi::Library;
use weft_verbs::{Device, devices, library_at};

/// With `variables` in the environment, which are those of the first call.
pub fn with(variables: &[(&str, &str)]) -> Device {
    static LIBRARY: OnceLock<&Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let fabric = format!("endpoint-test-{}", std::process::id());
        // SAFETY: no other thread of the tests reads the environment before it has been here.
        unsafe {
            std::env::set_var("SOFTRDMA_FABRIC", fabric);
            for (name, value) in variables {
                std::env::set_var(name, value);
            }
        }
        let test = std::env::current_exe().expect("a test has a path");
        let built = test.parent().expect("deps").join("libibverbs.so");
        library_at(Path::new(&built)).expect("the library loads")
    });
    devices(library).expect("there are devices").remove(0)
}
