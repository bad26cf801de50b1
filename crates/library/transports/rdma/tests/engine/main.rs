//! Engines over the device in software.

#[path = "../../../tcp/tests/engine/traffic.rs"]
mod traffic;

use std::sync::{Arc, OnceLock};

use weft_endpoint::Category;
use weft_engine::{LANES, Pace, RequestId};
use weft_rdma::{Options, Rdma};
use weft_transport::{Directory, Peer};
use weft_verbs::abi::Library;
use weft_verbs::library_at;

use traffic::{Message, processes, receive, send};

type Net = Rdma;

/// The library that cargo built for these tests.
fn software() -> &'static Library {
    static LIBRARY: OnceLock<&Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let fabric = format!("rdma-engine-test-{}", std::process::id());
        // SAFETY: no other thread of the tests reads the environment before it has been here.
        unsafe { std::env::set_var("SOFTRDMA_FABRIC", fabric) };
        let test = std::env::current_exe().expect("a test has a path");
        let built = test.parent().expect("deps").join("libibverbs.so");
        library_at(&built).expect("the library loads")
    })
}

/// Processes have the categories in turn, and receive pools: how lanes share an adapter is nothing to a peer, and what it receives into
/// stands on its card.
fn attach(rank: Peer, size: u32, cards: Arc<dyn Directory>) -> Rdma {
    let categories = Category::ALL
        .into_iter()
        .filter(|&c| c != Category::MpiThreads);
    let pools = [
        None,
        Some("P,256,128:P,2k,32:P,16512,16"),
        Some("S,256,64:P,4k,32:S,16512,16"),
    ];
    let pools = pools[rank as usize % pools.len()];
    let options = Options {
        category: categories.cycle().nth(rank as usize),
        pools: pools.map(|pools| pools.parse().unwrap()),
        library: Some(software()),
        ..Options::default()
    };
    Rdma::new(rank, size, LANES, cards, options).unwrap()
}

fn card(fabric: &Rdma) -> String {
    fabric.card()
}

/// A window of small messages is posted in few lists.
#[test]
fn a_window_of_small_messages_is_posted_in_few_lists() {
    const WINDOWS: usize = 200;
    processes(2, Pace::SHARED, |engine, me, barrier| {
        let small = Message {
            bytes: 8,
            lane: 0,
            seed: 1,
            is_synchronous: false,
            strided: [false; 2],
        };
        let mut buffers = vec![[0u8; 8]; 65];
        let window = |buffers: &mut [[u8; 8]]| {
            let (answer, window) = buffers.split_first_mut().unwrap();
            let mut requests: Vec<RequestId> = window
                .iter_mut()
                .map(|buffer| match me {
                    0 => send(engine, 0, 1, &small, 0, buffer),
                    _ => receive(engine, 0, &small, 0, buffer),
                })
                .collect();
            if me == 1 {
                for id in requests.drain(..) {
                    engine.wait(id);
                }
            }
            requests.push(match me {
                0 => receive(engine, 1, &small, 1, answer),
                _ => send(engine, 1, 0, &small, 1, answer),
            });
            for id in requests {
                engine.wait(id);
            }
        };
        for _ in 0..WINDOWS {
            window(&mut buffers);
        }
        barrier.wait();
        let counted = engine.fabric().counters();
        assert!(counted.requests > 0 && counted.posts <= counted.requests);
        let a_window = counted.requests / WINDOWS as u64;
        // Each message is one request at most; what is the transport's own is little beside.
        assert!(a_window <= 66, "rank {me}: {a_window} requests a window");
    });
}

#[test]
fn a_category_whose_queue_pairs_are_several_threads_is_refused() {
    let options = Options {
        category: Some(Category::MpiThreads),
        library: Some(software()),
        ..Options::default()
    };
    struct None;
    impl Directory for None {
        fn card(&self, _: Peer) -> Result<String, String> {
            Err("none".to_owned())
        }
    }
    let refused = Rdma::new(0, 1, LANES, Arc::new(None), options)
        .err()
        .unwrap();
    assert!(
        refused.to_string().starts_with("mpi-threads: "),
        "{refused}"
    );
}
