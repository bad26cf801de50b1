//! What goes over endpoints, and whom its completions reach, in every category and division, on the link layer of the program that
//! has this module.

use std::thread;

use weft_endpoint::{Category, Endpoint, Endpoints, Error, Layout, Level, Port, QueuePairAddress};
use weft_verbs::abi::IBV_WC_RETRY_EXC_ERR;
use weft_verbs::{Operation, Remote, SendList};

use crate::{IS_ETHERNET, software};

const THREADS: usize = 4;
const ROUNDS: usize = 200;
const LIST: usize = 8;

fn small(layout: Layout) -> Layout {
    Layout {
        depth: 2 * LIST,
        completion_depth: 2 * LIST,
        buffer_bytes: 64,
        ..layout
    }
}

/// Writes the numbers 1 to `ROUNDS` from the first half of the buffer into the second, on each queue pair in turn, `LIST` requests at
/// a time of which the last asks for a completion.
fn write_rounds(endpoint: &mut Endpoint) {
    for round in 1..=ROUNDS as u64 {
        for queue in 0..endpoint.queue_pairs() {
            let slot = endpoint.slot(0).clone();
            let at = 8 * queue;
            slot.write(at, &round.to_ne_bytes());
            let mut list = SendList::with_room(LIST);
            for request in 1..=LIST {
                list.push(
                    Operation::Write(slot.remote().at((32 + at) as u64)),
                    slot.part(at, 8),
                )
                .id(endpoint.tag(queue, LIST))
                .inlined(true)
                .signalled(request == LIST);
            }
            while !endpoint.post(queue, &mut list).unwrap() {
                endpoint.poll().unwrap();
            }
        }
        if round % 16 == 0 {
            endpoint.drain().unwrap();
        }
    }
    endpoint.drain().unwrap();
}

fn number(endpoint: &Endpoint, at: usize) -> u64 {
    let mut bytes = [0; 8];
    endpoint.slot(0).read(at, &mut bytes);
    u64::from_ne_bytes(bytes)
}

fn exercise(layout: &Layout) {
    let mut endpoints = Endpoints::create(&software(), layout).unwrap();
    endpoints.connect_to_self().unwrap();
    thread::scope(|scope| {
        for endpoint in endpoints.threads() {
            scope.spawn(|| write_rounds(endpoint));
        }
    });
    for endpoint in endpoints.threads() {
        for queue in 0..layout.queue_pairs_each {
            assert_eq!(endpoint.completed(queue), (ROUNDS * LIST) as u64);
            assert_eq!(endpoint.outstanding(queue), 0);
            assert_eq!(number(endpoint, 32 + 8 * queue), ROUNDS as u64);
        }
    }
}

#[test]
fn every_category_delivers_and_counts_for_each_thread() {
    for category in Category::ALL {
        exercise(&small(category.layout(THREADS)));
        exercise(&small(Layout {
            queue_pairs_each: 2,
            ..category.layout(THREADS)
        }));
    }
}

#[test]
fn completion_queues_are_shared_independently_of_the_category() {
    for category in Category::ALL {
        let layout = category.layout(THREADS);
        let contexts = layout.context;
        for completions in [1, 2, 4] {
            if completions > contexts || completions < layout.queue_pair {
                continue;
            }
            for completion_queues_each in [1, 2] {
                exercise(&small(Layout {
                    completions,
                    completion_queues_each,
                    queue_pairs_each: 2,
                    ..layout.clone()
                }));
            }
        }
    }
}

#[test]
fn completion_queues_without_locks() {
    for category in [Category::TwoXDynamic, Category::Static] {
        for queues in [1, 2] {
            exercise(&small(Layout {
                is_sole: true,
                queue_pairs_each: 2,
                completion_queues_each: queues,
                ..category.layout(THREADS)
            }));
        }
    }
}

#[test]
fn every_object_is_shared_every_way() {
    let one = Layout {
        context: THREADS,
        domain: THREADS,
        ..Layout::independent(THREADS)
    };
    for ways in [1, 2, 4] {
        exercise(&small(Layout {
            context: ways,
            ..Layout::independent(THREADS)
        }));
        exercise(&small(Layout {
            domain: ways,
            ..one.clone()
        }));
        exercise(&small(Layout {
            region: ways,
            ..one.clone()
        }));
        exercise(&small(Layout {
            is_packed: true,
            region: ways,
            ..one.clone()
        }));
        exercise(&small(Layout {
            thread_domain: None,
            completions: ways,
            queue_pair: ways,
            ..one.clone()
        }));
    }
}

#[test]
fn three_threads_on_objects_of_two() {
    exercise(&small(Layout {
        context: 2,
        domain: 2,
        completions: 2,
        queue_pair: 2,
        region: 2,
        thread_domain: None,
        ..Layout::independent(3)
    }));
}

#[test]
fn threads_on_one_buffer_have_the_same_memory() {
    let layout = Layout {
        buffer: 2,
        ..small(Layout::independent(4))
    };
    let mut endpoints = Endpoints::create(&software(), &layout).unwrap();
    let addresses: Vec<u64> = endpoints
        .threads()
        .iter()
        .map(|endpoint| endpoint.slot(0).remote().address)
        .collect();
    assert_eq!(addresses[0], addresses[1]);
    assert_eq!(addresses[2], addresses[3]);
    assert_eq!(addresses[2] - addresses[0], 128);
}

#[test]
fn buffers_stand_on_lines_of_their_own_unless_they_are_packed() {
    for (is_packed, apart) in [(false, 128), (true, 2)] {
        let layout = Layout {
            is_packed,
            buffer_bytes: 2,
            ..Layout::independent(3)
        };
        let mut endpoints = Endpoints::create(&software(), &layout).unwrap();
        let at = |endpoint: &Endpoint| endpoint.slot(0).remote().address;
        let addresses: Vec<u64> = endpoints.threads().iter().map(at).collect();
        assert_eq!(addresses[0] % 128, 0);
        assert_eq!(addresses[1] - addresses[0], apart);
        assert_eq!(addresses[2] - addresses[1], apart);
    }
}

#[test]
fn endpoints_go_to_threads_that_outlive_their_maker() {
    let endpoints =
        Endpoints::create(&software(), &small(Category::SharedDynamic.layout(THREADS))).unwrap();
    endpoints.connect_to_self().unwrap();
    let account = endpoints.account().clone();
    let threads: Vec<_> = endpoints
        .into_threads()
        .into_iter()
        .map(|mut endpoint| {
            thread::spawn(move || {
                write_rounds(&mut endpoint);
                number(&endpoint, 32)
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), ROUNDS as u64);
    }
    let left = account.usage().unwrap().objects;
    assert_eq!((left.contexts, left.queue_pairs), (1, 0));
}

#[test]
fn two_sets_of_endpoints_are_wired_by_their_cards() {
    let device = software();
    let layout = small(Category::Dynamic.layout(2));
    let mut near = Endpoints::create(&device, &layout).unwrap();
    let far = Endpoints::create(&device, &small(Category::Static.layout(2))).unwrap();
    near.connect(&far.card().unwrap()).unwrap();
    far.connect(&near.card().unwrap()).unwrap();
    let card = far.card().unwrap();
    for (at, endpoint) in near.threads().iter_mut().enumerate() {
        endpoint.slot(0).write(0, &[at as u8 + 1; 16]);
        let mut list = SendList::with_room(1);
        let to = Operation::Write(card.memory[at].remote());
        list.push(to, endpoint.slot(0).part(0, 16))
            .id(endpoint.tag(0, 1))
            .signalled(true);
        assert!(endpoint.post(0, &mut list).unwrap());
        endpoint.drain().unwrap();
    }
    for (at, endpoint) in far.into_threads().iter().enumerate() {
        let mut bytes = [0; 16];
        endpoint.slot(0).read(0, &mut bytes);
        assert_eq!(bytes, [at as u8 + 1; 16]);
    }
    let other = Endpoints::create(&device, &small(Category::Static.layout(3))).unwrap();
    assert_eq!(
        other.connect(&card),
        Err(Error::Card { ours: 3, theirs: 2 })
    );
}

#[test]
fn a_card_has_the_addresses_of_the_link_layer() {
    let endpoints = Endpoints::create(&software(), &small(Category::Static.layout(1))).unwrap();
    let port = endpoints.card().unwrap().port;
    assert_eq!(
        (port.lid == 0, port.gid.is_some()),
        (IS_ETHERNET, IS_ETHERNET)
    );
}

/// Where a queue pair is said to be that is elsewhere.
type Mistake = fn(Port, QueuePairAddress) -> (Port, QueuePairAddress);

/// Posts to itself over a connection with that mistake.
fn post_mistaken(mistake: Mistake) -> Result<(), Error> {
    let layout = small(Category::Dynamic.layout(1));
    let mut endpoints = Endpoints::create(&software(), &layout).unwrap();
    let card = endpoints.card().unwrap();
    let (port, address) = mistake(card.port, card.queue_pairs[0]);
    endpoints.connect_place(0, port, address).unwrap();
    let endpoint = &mut endpoints.threads()[0];
    let mut list = SendList::with_room(LIST);
    for _ in 0..LIST {
        let to = Operation::Write(endpoint.slot(0).remote().at(32));
        list.push(to, endpoint.slot(0).part(0, 8))
            .id(endpoint.tag(0, 1))
            .signalled(true);
    }
    assert!(endpoint.post(0, &mut list).unwrap());
    endpoint.drain()
}

#[test]
fn requests_over_a_mistaken_connection_fail() {
    let mistakes: [Mistake; 3] = [
        |port, address| {
            let number = address.number + 0x1000;
            (port, QueuePairAddress { number, ..address })
        },
        |port, address| {
            let psn = address.psn ^ 1;
            (port, QueuePairAddress { psn, ..address })
        },
        // Of the prefix for documentation.
        |port, address| {
            let gid = port.gid.map(|(_, index)| {
                (
                    [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
                    index,
                )
            });
            (Port { lid: 0xbffe, gid }, address)
        },
    ];
    thread::scope(|scope| {
        let all: Vec<_> = mistakes
            .into_iter()
            .map(|mistake| scope.spawn(move || post_mistaken(mistake)))
            .collect();
        for outcome in all {
            let status = IBV_WC_RETRY_EXC_ERR;
            assert_eq!(outcome.join().unwrap(), Err(Error::Failed { status }));
        }
    });
}

#[test]
fn a_full_queue_pair_is_told_and_nothing_is_posted() {
    for category in [Category::Dynamic, Category::MpiThreads] {
        let mut endpoints = Endpoints::create(&software(), &small(category.layout(1))).unwrap();
        endpoints.connect_to_self().unwrap();
        let endpoint = &mut endpoints.threads()[0];
        let slot = endpoint.slot(0).clone();
        let mut list = SendList::with_room(2 * LIST);
        for _ in 0..2 * LIST {
            list.push(Operation::Write(slot.remote().at(32)), slot.part(0, 8))
                .id(endpoint.tag(0, 1))
                .signalled(true);
        }
        assert!(endpoint.post(0, &mut list).unwrap());
        assert!(!endpoint.post(0, &mut list).unwrap());
        assert_eq!(endpoint.outstanding(0), 2 * LIST as u64);
        endpoint.drain().unwrap();
        assert!(endpoint.post(0, &mut list).unwrap());
        endpoint.drain().unwrap();
    }
}

#[test]
fn a_failure_is_told_to_the_thread_whose_request_it_was() {
    let layout = Layout {
        completions: 2,
        ..small(Category::Static.layout(2))
    };
    let mut endpoints = Endpoints::create(&software(), &layout).unwrap();
    endpoints.connect_to_self().unwrap();
    let [first, second] = endpoints.threads() else {
        panic!("two threads");
    };
    let nowhere = Remote {
        key: !0,
        ..first.slot(0).remote()
    };
    let mut list = SendList::with_room(1);
    list.push(Operation::Write(nowhere), first.slot(0).part(0, 8))
        .id(first.tag(0, 1))
        .signalled(true);
    assert!(first.post(0, &mut list).unwrap());
    while second.poll().unwrap() == 0 {
        thread::yield_now();
    }
    assert!(matches!(first.poll(), Err(Error::Failed { .. })));
    assert!(matches!(first.drain(), Err(Error::Failed { .. })));
    write_rounds(second);
}

#[test]
fn a_page_of_ones_own_also_without_levels_of_sharing() {
    let layout = small(Category::Dynamic.layout(2));
    assert_eq!(layout.thread_domain, Some(Level::Page));
    let mut endpoints = Endpoints::create_without_sharing(&software(), &layout).unwrap();
    endpoints.connect_to_self().unwrap();
    endpoints.threads().iter_mut().for_each(write_rounds);
}
