//! Which locks a category takes: none in thread domains but the completion queue's, and none contended where nothing is shared.

mod device;

use std::sync::Barrier;
use std::thread;

use weft_endpoint::{Category, Endpoint, Endpoints, Layout};
use weft_verbs::abi::softrdma_lock_stat;
use weft_verbs::{Operation, SendList};

const THREADS: usize = 4;
const POSTS: u64 = 2000;

struct Locks {
    send: softrdma_lock_stat,
    uuar: softrdma_lock_stat,
    completions: softrdma_lock_stat,
}

/// After `POSTS` posts of each thread, all at once.
fn locks(layout: &Layout) -> Locks {
    let mut endpoints = Endpoints::create(&device::with(&[]), layout).unwrap();
    endpoints.connect_to_self().unwrap();
    let together = Barrier::new(layout.threads);
    thread::scope(|scope| {
        for endpoint in endpoints.threads() {
            scope.spawn(|| {
                together.wait();
                write(endpoint);
            });
        }
    });
    let accounts = endpoints.account().contexts().iter();
    let mut sum = Locks {
        send: softrdma_lock_stat::default(),
        uuar: softrdma_lock_stat::default(),
        completions: softrdma_lock_stat::default(),
    };
    for stat in accounts.map(|context| context.account().unwrap()) {
        add(&mut sum.send, stat.send_lock);
        add(&mut sum.uuar, stat.uuar_lock);
        add(&mut sum.completions, stat.cq_lock);
    }
    sum
}

fn add(sum: &mut softrdma_lock_stat, more: softrdma_lock_stat) {
    sum.takes += more.takes;
    sum.contentions += more.contentions;
}

fn write(endpoint: &mut Endpoint) {
    let slot = endpoint.slot(0).clone();
    let mut list = SendList::with_room(1);
    list.push(Operation::Write(slot.remote().at(32)), slot.part(0, 2))
        .id(endpoint.tag(0, 1))
        .inlined(true)
        .signalled(true);
    for _ in 0..POSTS {
        while !endpoint.post(0, &mut list).unwrap() {
            endpoint.poll().unwrap();
        }
    }
    endpoint.drain().unwrap();
}

fn small(layout: Layout) -> Layout {
    Layout {
        depth: 16,
        completion_depth: 16,
        ..layout
    }
}

const ALL: u64 = THREADS as u64 * POSTS;

#[test]
fn thread_domains_take_neither_the_queue_pairs_nor_the_uuars_lock() {
    for category in [
        Category::TwoXDynamic,
        Category::Dynamic,
        Category::SharedDynamic,
    ] {
        let locks = locks(&small(category.layout(THREADS)));
        assert_eq!((locks.send.takes, locks.uuar.takes), (0, 0), "{category}");
        assert!(locks.completions.takes > 0);
        assert_eq!(locks.completions.contentions, 0, "{category}");
    }
}

#[test]
fn with_completion_queues_of_one_thread_there_is_no_lock_at_all() {
    let layout = Layout {
        is_sole: true,
        ..Category::TwoXDynamic.layout(THREADS)
    };
    let locks = locks(&small(layout));
    let takes = [locks.send, locks.uuar, locks.completions].map(|lock| lock.takes);
    assert_eq!(takes, [0; 3]);
}

#[test]
fn mpi_everywhere_takes_the_queue_pairs_lock_and_nobody_else_has_it() {
    let locks = locks(&small(Category::MpiEverywhere.layout(THREADS)));
    // Low-latency uUARs have no lock.
    assert_eq!((locks.send.takes, locks.uuar.takes), (ALL, 0));
    let contentions = locks.send.contentions + locks.completions.contentions;
    assert_eq!(contentions, 0);
}

#[test]
fn static_takes_a_uuars_lock_from_the_5th_thread_on() {
    let layout = |threads| small(Category::Static.layout(threads));
    assert_eq!(locks(&layout(4)).uuar.takes, 0);
    assert_eq!(locks(&layout(6)).uuar.takes, 2 * POSTS);
}

#[test]
fn mpi_threads_takes_one_queue_pairs_lock_for_all() {
    let locks = locks(&small(Category::MpiThreads.layout(THREADS)));
    assert_eq!(locks.send.takes, ALL);
    assert_eq!(locks.uuar.takes, 0);
}
