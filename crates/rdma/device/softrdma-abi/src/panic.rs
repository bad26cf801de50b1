//! A defect of ours ends the process with one line.
//!
//! Functions that C calls cannot unwind: Rust ends the process when a panic would leave one. The hook makes of the
//! message one line that names the library.

use std::panic;

/// Runs when the library is loaded. The hook is that of this library's own copy of the standard library.
extern "C" fn install() {
    panic::set_hook(Box::new(|information| {
        let message = information.payload_as_str().unwrap_or("no message");
        match information.location() {
            Some(place) => eprintln!("softrdma: internal error at {place}: {message}"),
            None => eprintln!("softrdma: internal error: {message}"),
        }
    }));
}

// SAFETY: an entry of this section is a function without arguments that the loader calls once.
#[used]
#[unsafe(link_section = ".init_array")]
static INSTALL: extern "C" fn() = install;
