//! On the device in software, loaded as programs load it.

mod objects;
mod traffic;
mod types;

use std::path::{Path as FilePath, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::abi::*;
use crate::*;

/// Longer than anything that is not broken takes, on a machine that has other things to do.
const SOON: Duration = Duration::from_secs(20);

/// The library that cargo built for these tests.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let built = test.parent().expect("deps").join("libibverbs.so");
    assert!(built.exists(), "{} is not built", built.display());
    built
}

fn software() -> &'static abi::Library {
    static LIBRARY: OnceLock<&abi::Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let name = format!("verbs-test-{}", std::process::id());
        // SAFETY: no other thread of the tests reads the environment before it has been here.
        unsafe { std::env::set_var("SOFTRDMA_FABRIC", name) };
        library_at(FilePath::new(&built())).expect("the library loads")
    })
}

fn open() -> Context {
    devices(software()).unwrap()[0].open().unwrap()
}

const ACCESS: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC;

/// To a queue pair of this process.
fn near(context: &Context, number: u32) -> Connection {
    let path = Path {
        lid: context.port(1).unwrap().lid,
        gid: None,
        service_level: 0,
    };
    Connection::new(path, number)
}

/// The next completion.
fn wait(poll: impl Fn(&mut [Completion]) -> usize) -> Completion {
    let begin = Instant::now();
    let mut completions = [Completion::default()];
    while poll(&mut completions) == 0 {
        assert!(begin.elapsed() < SOON, "no completion");
        std::thread::yield_now();
    }
    completions[0]
}
