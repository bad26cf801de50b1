//! What was planned is what the device holds: all categories, 1 to 64 threads, the paper's policy.

mod device;

use weft_endpoint::{Adapter, Category, Endpoints, Lane, Lanes, Layout, Level, plan_layout};
use weft_verbs::{Context, Device};

fn software() -> Device {
    device::with(&[])
}

/// Shallow: only how many there are matters.
fn shallow(layout: Layout) -> Layout {
    Layout {
        depth: 2,
        completion_depth: 2,
        inline_bytes: 0,
        ..layout
    }
}

fn compare(layout: &Layout) {
    let planned = plan_layout(layout, 1, &Adapter::CONNECTX4).unwrap();
    let endpoints = Endpoints::create(&software(), layout).unwrap();
    let usage = endpoints.usage().unwrap();
    assert_eq!(usage.objects, planned.rank.objects, "{layout:?}");
    assert_eq!(usage.hardware, Some(planned.rank.hardware), "{layout:?}");
    let contexts = endpoints.account().contexts().iter();
    let bytes: u64 = contexts.map(|c| c.account().unwrap().bytes).sum();
    assert_eq!(bytes, planned.bytes, "{layout:?}");
}

#[test]
fn every_category_with_1_to_64_threads() {
    for category in Category::ALL {
        for threads in 1..=64 {
            compare(&shallow(category.layout(threads)));
        }
    }
}

#[test]
fn two_queue_pairs_a_thread_on_one_or_two_completion_queues() {
    for category in Category::ALL {
        for threads in [1, 2, 4, 16] {
            for completion_queues_each in [1, 2] {
                compare(&shallow(Layout {
                    queue_pairs_each: 2,
                    completion_queues_each,
                    ..category.layout(threads)
                }));
            }
        }
    }
}

#[test]
fn every_object_shared_every_way_also_unevenly() {
    let one = Layout {
        context: 12,
        domain: 12,
        ..Layout::independent(12)
    };
    for ways in 1..=12 {
        for is_doubled in [false, true] {
            compare(&shallow(Layout {
                context: ways,
                is_doubled,
                thread_domain: Some(Level::Uuar),
                ..Layout::independent(12)
            }));
            compare(&shallow(Layout {
                domain: ways,
                is_doubled,
                ..one.clone()
            }));
            compare(&shallow(Layout {
                region: ways,
                buffers_each: 2,
                ..one.clone()
            }));
            compare(&shallow(Layout {
                completions: ways,
                is_doubled,
                ..one.clone()
            }));
            compare(&shallow(Layout {
                completions: ways,
                queue_pair: ways,
                thread_domain: None,
                is_doubled,
                ..one.clone()
            }));
        }
    }
}

#[test]
fn without_levels_of_sharing_every_second_domain_is_unused() {
    let adapter = Adapter {
        has_sharing: false,
        ..Adapter::CONNECTX4
    };
    for category in Category::ALL {
        for threads in [1, 2, 5, 16] {
            let layout = shallow(category.layout(threads));
            let planned = plan_layout(&layout, 1, &adapter).unwrap();
            let endpoints = Endpoints::create_without_sharing(&software(), &layout).unwrap();
            let usage = endpoints.usage().unwrap();
            assert_eq!(usage.objects, planned.rank.objects, "{category} {threads}");
            assert_eq!(usage.hardware, Some(planned.rank.hardware));
        }
    }
}

#[test]
fn what_was_made_is_given_back() {
    let endpoints = Endpoints::create(&software(), &shallow(Category::Dynamic.layout(8))).unwrap();
    let account = endpoints.account().clone();
    drop(endpoints);
    let left = account.usage().unwrap().objects;
    assert_eq!((left.contexts, left.queue_pairs), (1, 0));
    assert_eq!((left.completion_queues, left.memory_regions), (0, 0));
    assert_eq!(left.thread_domains_level_1, 0);
}

/// Lanes make their queue pairs later, so pages and thread domains are all that a category gives them.
#[test]
fn lanes_take_the_pages_of_their_category() {
    for category in Category::ALL {
        for count in [1, 2, 8, 16] {
            let lanes = Lanes::open(&software(), category, count);
            if category == Category::MpiThreads && count > 1 {
                let why = lanes.err().unwrap().to_string();
                assert!(why.starts_with("mpi-threads: "), "{why}");
                continue;
            }
            let mut lanes = lanes.unwrap();
            let made: Vec<Lane> = (0..count).map(|_| lanes.lane().unwrap()).collect();
            let mut contexts: Vec<&Context> = Vec::new();
            for context in made.iter().map(|lane| lane.domain.context()) {
                if !contexts.iter().any(|known| known.is(context)) {
                    contexts.push(context);
                }
            }
            let accounts = contexts.iter().map(|context| context.account().unwrap());
            let uars: u64 = accounts.map(|a| a.static_uars + a.dynamic_uars).sum();
            let planned = plan_layout(&category.layout(count), 1, &Adapter::CONNECTX4).unwrap();
            assert_eq!(
                uars,
                planned.rank.hardware.uars(),
                "{count} lanes, {category}"
            );
            let has_domains = category.layout(count).thread_domain.is_some();
            assert!(made.iter().all(|lane| lane.parent.is_some() == has_domains));
        }
    }
}
