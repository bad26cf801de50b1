//! For tests: processes of this transport, several in one.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use weft_contract::{Cards, Tested, World};
pub use weft_contract::{Log, Random, Scattered, memory, offer_bytes, offer_from, turn};
use weft_transport::Peer;
use weft_verbs::abi::Library;
use weft_verbs::library_at;

use crate::{Options, Rdma};

pub type Process = weft_contract::Process<Rdma>;

const LANES: u32 = 2;

impl Tested for Rdma {
    const LANES: u32 = LANES;

    fn tested(rank: Peer, size: u32, cards: Arc<Cards>) -> Rdma {
        Rdma::new(rank, size, LANES, cards, options()).unwrap()
    }

    fn own_card(&self) -> String {
        self.card()
    }

    fn links(&self) -> u64 {
        self.counters().links
    }

    fn under_way(&self) -> usize {
        self.pending()
    }
}

/// The device in software, loaded as programs load it: the library that cargo built for these tests.
fn software() -> &'static Library {
    static LIBRARY: OnceLock<&Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let name = format!("rdma-test-{}", std::process::id());
        // SAFETY: no other thread of the tests reads the environment before it has been here.
        unsafe {
            std::env::set_var("SOFTRDMA_FABRIC", name);
            std::env::set_var("SOFTRDMA_DEVICES", "3");
        }
        let test = std::env::current_exe().expect("a test has a path");
        let built = test.parent().expect("deps").join("libibverbs.so");
        library_at(&built).expect("the library loads")
    })
}

thread_local! {
    static RAILS: Cell<usize> = const { Cell::new(1) };
    static IS_OVER_XRC: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test with processes that are all of one host, and reach each other over XRC.
pub fn over_xrc(test: impl FnOnce()) {
    IS_OVER_XRC.set(true);
    test();
    IS_OVER_XRC.set(false);
}

/// Runs a test with processes that use so many adapters each.
pub fn over_rails(rails: usize, test: impl FnOnce()) {
    RAILS.set(rails);
    test();
    RAILS.set(1);
}

pub fn options() -> Options {
    let devices: Vec<String> = (0..RAILS.get()).map(|n| format!("softrdma{n}")).collect();
    Options {
        job: "test".to_owned(),
        first_of_host: IS_OVER_XRC.get().then_some(0),
        timeout: Some(Duration::from_secs(1)),
        adapters: devices.join(",").parse().expect("names of devices"),
        library: Some(software()),
        ..Options::default()
    }
}

pub fn world_with(size: u32, options: &Options) -> World<Rdma> {
    world_with_each(&vec![options.clone(); size as usize])
}

/// Processes with options of their own.
pub fn world_with_each(options: &[Options]) -> World<Rdma> {
    let size = options.len() as u32;
    World::new(size, |rank, cards| {
        let options = options[rank as usize].clone();
        Rdma::new(rank, size, LANES, cards, options).unwrap()
    })
}

pub fn pair() -> (Process, Process) {
    weft_contract::pair()
}

/// Two processes with a link, over XRC one each way.
pub fn linked_pair() -> (Process, Process) {
    weft_contract::linked_pair()
}
