//! Every number of Zambre 2018 that follows from the rules, from the plan. `docs/uar-accounting.md` has those that do not add up, with
//! what they should be; they are here too.

use super::*;

const THREADS: usize = 16;
const CONNECTX4: Adapter = Adapter::CONNECTX4;

fn planned(layout: &Layout, ranks: u64) -> Plan {
    plan_layout(layout, ranks, &CONNECTX4).unwrap()
}

fn rank(category: Category, threads: usize) -> Resources {
    planned(&category.layout(threads), 1).rank
}

fn hardware(category: Category) -> Hardware {
    rank(category, THREADS).hardware
}

fn queue_kib(category: Category, threads: usize) -> u64 {
    rank(category, threads)
        .objects
        .queue_bytes(&CONNECTX4.sizes)
        / 1024
}

/// Of contexts and queues, as the paper sums: 144 bytes of a protection domain or region are nothing to it.
fn kib(category: Category, threads: usize) -> u64 {
    let bytes = rank(category, threads).objects.bytes(&Sizes {
        protection_domain: 0,
        memory_region: 0,
        ..CONNECTX4.sizes
    });
    bytes / 1024
}

/// "One TD-assigned QP per context per thread" (§IV, figure 3).
fn naive(threads: usize) -> Hardware {
    planned(&Layout::independent(threads), 1).rank.hardware
}

#[test]
fn a_context_has_8_uars_and_16_uuars() {
    let one = hardware(Category::Static);
    assert_eq!((one.uars(), one.uuars()), (8, 16));
}

#[test]
fn hardware_at_16_threads_in_percent_of_mpi_everywhere() {
    let everywhere = hardware(Category::MpiEverywhere);
    assert_eq!((everywhere.uars(), everywhere.uuars()), (128, 256));
    for (category, uars, uuars, hundredths) in [
        (Category::TwoXDynamic, 40, 80, 3125),
        (Category::Dynamic, 24, 48, 1875),
        (Category::SharedDynamic, 16, 32, 1250),
        (Category::Static, 8, 16, 625),
        (Category::MpiThreads, 8, 16, 625),
    ] {
        let its = hardware(category);
        assert_eq!((its.uars(), its.uuars()), (uars, uuars), "{category}");
        assert_eq!(its.uars() * 10_000, hundredths * everywhere.uars());
        assert_eq!(its.uuars() * 10_000, hundredths * everywhere.uuars());
    }
}

#[test]
fn fully_independent_paths_take_3_2_times_less() {
    let (all, third) = (Category::MpiEverywhere, Category::TwoXDynamic);
    assert_eq!(hardware(all).uars() * 10, hardware(third).uars() * 32);
}

#[test]
fn used_and_wasted_uuars_at_16_threads() {
    let expected = [
        (Category::MpiEverywhere, 16, 240),
        (Category::TwoXDynamic, 32, 48),
        (Category::Dynamic, 16, 32),
        (Category::SharedDynamic, 16, 16),
        // "Resources are wasted only when the number of threads is less than 16" (§VI) is wrong by one: number 0 has none.
        (Category::Static, 15, 1),
        (Category::MpiThreads, 1, 15),
    ];
    for (category, used, wasted) in expected {
        let its = hardware(category);
        assert_eq!(
            (its.used_uuars, its.wasted_uuars()),
            (used, wasted),
            "{category}"
        );
    }
}

#[test]
fn mpi_everywhere_wastes_93_75_percent() {
    assert_eq!(hardware(Category::MpiEverywhere).waste(), 0.9375);
}

#[test]
fn a_context_with_one_domain_has_9_uars_and_18_uuars_and_wastes_94_percent() {
    let one = naive(1);
    assert_eq!((one.uars(), one.uuars(), one.wasted_uuars()), (9, 18, 17));
    assert_eq!((one.waste() * 1000.0).round(), 944.0);
    let all = naive(THREADS);
    assert_eq!((all.uars(), all.uuars()), (9 * 16, 18 * 16));
}

#[test]
fn of_16_queue_pairs_two_share_a_uuar_of_17_three_do() {
    for (queue_pairs, used) in [(4, 4), (5, 5), (15, 15), (16, 15), (17, 15), (64, 15)] {
        let its = rank(Category::Static, queue_pairs).hardware;
        assert_eq!(its.used_uuars, used, "{queue_pairs}");
    }
}

#[test]
fn figure_16_and_all_low_latency() {
    let with = |total_uuars, low_latency_uuars, queue_pairs| {
        let adapter = Adapter {
            total_uuars,
            low_latency_uuars,
            ..CONNECTX4
        };
        let planned = plan(Category::Static, queue_pairs, 1, &adapter).unwrap();
        planned.rank.hardware
    };
    // Seven queue pairs on 4 5 1 2 3 1 2; three domains more on two pages.
    assert_eq!((with(6, 2, 7).used_uuars, with(6, 2, 7).uars()), (5, 3));
    // 15 on 1 … 15, the rest on 0.
    assert_eq!(with(16, 15, 15).used_uuars, 15);
    assert_eq!(with(16, 15, 18).used_uuars, 16);
}

#[test]
fn an_adapter_has_room_for_907_contexts_with_a_domain_each() {
    assert_eq!(planned(&Layout::independent(1), 1).most_ranks, 907);
    let all = planned(&Layout::independent(907), 1);
    assert!(all.fits());
    let more = planned(&Layout::independent(908), 1);
    assert_eq!(
        more.shortage,
        Some(Shortage::Uars {
            needed: 8172,
            free: 8163
        })
    );
    let most = |reserved_uars| {
        let adapter = Adapter {
            reserved_uars,
            ..CONNECTX4
        };
        let layout = Layout::independent(1);
        plan_layout(&layout, 1, &adapter).unwrap().most_ranks
    };
    assert_eq!([20, 21, 29, 30].map(most), [908, 907, 907, 906]);
}

#[test]
fn a_context_has_512_independent_paths_not_256() {
    assert!(planned(&Category::Dynamic.layout(512), 1).fits());
    let more = planned(&Category::Dynamic.layout(513), 1);
    let expected = Shortage::ContextUars {
        needed: 513,
        most: 512,
    };
    assert_eq!((more.shortage, more.most_ranks), (Some(expected), 0));
    assert!(planned(&Category::TwoXDynamic.layout(256), 1).fits());
    assert!(!planned(&Category::TwoXDynamic.layout(257), 1).fits());
    assert!(planned(&Category::SharedDynamic.layout(1024), 1).fits());
    assert!(!planned(&Category::SharedDynamic.layout(1025), 1).fits());
}

#[test]
fn sharing_a_context_16_ways_takes_80_48_or_32_uuars_instead_of_288() {
    let shared = |is_doubled, level| {
        let layout = Layout {
            context: THREADS,
            is_doubled,
            thread_domain: Some(level),
            ..Layout::independent(THREADS)
        };
        planned(&layout, 1).rank.hardware.uuars()
    };
    let all = naive(THREADS).uuars();
    assert_eq!(all, 288);
    assert_eq!(shared(true, Level::Page), 80);
    assert_eq!(all / shared(false, Level::Page), 6);
    assert_eq!(all / shared(false, Level::Uuar), 9);
}

#[test]
fn shared_dynamic_adds_half_as_many_uars_as_threads_but_as_many_uuars() {
    let its = hardware(Category::SharedDynamic);
    assert_eq!((its.dynamic_uars, its.dynamic_uuars), (8, 16));
}

#[test]
fn mpi_threads_has_8_uars_16_uuars_a_queue_pair_and_a_completion_queue() {
    for threads in [1, 16, 64] {
        let its = rank(Category::MpiThreads, threads);
        assert_eq!((its.hardware.uars(), its.hardware.uuars()), (8, 16));
        let objects = its.objects;
        assert_eq!((objects.queue_pairs, objects.completion_queues), (1, 1));
    }
}

#[test]
fn table_1() {
    let sizes = CONNECTX4.sizes;
    assert_eq!(kib(Category::Static, 1), 345);
    assert_eq!(sizes.context * 1000 / (345 * 1024), 742);
    // 354 KB, as the text says, would make it 72.3 %.
    assert_eq!(sizes.context * 1000 / (354 * 1024), 723);
}

#[test]
fn memory_of_queues() {
    assert_eq!(queue_kib(Category::Dynamic, 1), 89);
    // 1.39 MB.
    assert_eq!(queue_kib(Category::Dynamic, THREADS), 1424);
    let percent = |category| 100.0 * queue_kib(category, THREADS) as f64 / 1424.0;
    let all = [
        Category::MpiEverywhere,
        Category::TwoXDynamic,
        Category::Dynamic,
        Category::SharedDynamic,
        Category::Static,
        Category::MpiThreads,
    ];
    assert_eq!(all.map(percent), [100.0, 200.0, 100.0, 100.0, 100.0, 6.25]);
}

#[test]
fn memory_of_categories() {
    // 5.39 MB.
    assert_eq!(kib(Category::MpiEverywhere, THREADS), 5520);
    // 3.03 MB, 1.78 times less; the 1.64 MB that §VII gives for it are Dynamic's, 3.29 times less.
    assert_eq!(kib(Category::TwoXDynamic, THREADS), 3104);
    assert_eq!(kib(Category::Dynamic, THREADS), 1680);
    assert_eq!(kib(Category::SharedDynamic, THREADS), 1680);
    assert_eq!(kib(Category::Static, THREADS), 1680);
    assert_eq!(kib(Category::MpiThreads, THREADS), 345);
}

#[test]
fn sharing_queue_pairs_saves_16_times_and_completion_queues_1_1_times() {
    let dynamic = Category::Dynamic.layout(THREADS);
    let queues = |layout: &Layout| {
        let objects = planned(layout, 1).rank.objects;
        objects.queue_bytes(&CONNECTX4.sizes)
    };
    let one_queue = Layout {
        completions: THREADS,
        ..dynamic.clone()
    };
    let one_pair = Layout {
        queue_pair: THREADS,
        thread_domain: None,
        ..one_queue.clone()
    };
    assert_eq!(queues(&one_queue), 1289 << 10);
    assert_eq!(queues(&dynamic) * 100 / queues(&one_queue), 110);
    assert_eq!(queues(&dynamic), 16 * queues(&one_pair));
}

/// Figure 14: `ranks` ranks of `threads` threads, two queue pairs a thread on one completion queue.
fn stencil(category: Category, ranks: u64, threads: usize) -> Resources {
    let layout = Layout {
        queue_pairs_each: 2,
        ..category.layout(threads)
    };
    planned(&layout, ranks).node
}

#[test]
fn stencil_takes_more_with_more_ranks() {
    for (ranks, threads) in [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)] {
        let uars = |category| stencil(category, ranks, threads).hardware.uars();
        let each = threads as u64;
        assert_eq!(uars(Category::MpiEverywhere), 128);
        assert_eq!(uars(Category::TwoXDynamic), ranks * (8 + 4 * each));
        assert_eq!(uars(Category::Dynamic), ranks * (8 + 2 * each));
        assert_eq!(uars(Category::SharedDynamic), ranks * (8 + each));
        assert_eq!(uars(Category::Static), 8 * ranks);
        assert_eq!(uars(Category::MpiThreads), 8 * ranks);
    }
    let at_16_1 = [
        Category::TwoXDynamic,
        Category::Dynamic,
        Category::SharedDynamic,
        Category::Static,
    ]
    .map(|category| stencil(category, 16, 1).hardware.uars());
    assert_eq!(at_16_1, [192, 160, 144, 128]);
}

#[test]
fn stencil_has_twice_as_many_queue_pairs_as_completion_queues() {
    for category in Category::ALL {
        for (ranks, threads) in [(16, 1), (4, 4), (1, 16)] {
            let objects = stencil(category, ranks, threads).objects;
            assert_eq!(objects.queue_pairs, 2 * objects.completion_queues);
            let times = match category {
                Category::TwoXDynamic => 2 * 16,
                Category::MpiThreads => ranks,
                _ => 16,
            };
            assert_eq!(objects.completion_queues, times, "{category}");
        }
    }
}

#[test]
fn stencil_1_16_puts_28_of_32_queue_pairs_on_11_uuars() {
    let its = stencil(Category::Static, 1, 16);
    assert_eq!((its.objects.queue_pairs, its.hardware.used_uuars), (32, 15));
}

#[test]
fn todays_driver() {
    let uars = |category| {
        plan(category, THREADS, 1, &Adapter::TODAY)
            .unwrap()
            .rank
            .hardware
            .uars()
    };
    assert_eq!(Category::ALL.map(uars), [32, 33, 17, 9, 9, 2]);
    let one = plan_layout(&Layout::independent(1), 1, &Adapter::TODAY).unwrap();
    assert_eq!(one.rank.hardware.uars(), 2);
    // 16 queue pairs share nothing, the 17th is the first to share.
    let used = |threads| {
        plan(Category::Static, threads, 1, &Adapter::TODAY)
            .unwrap()
            .rank
            .hardware
            .used_uuars
    };
    assert_eq!([15, 16, 17].map(used), [15, 16, 16]);
}

#[test]
fn plans_that_cannot_be_are_refused() {
    assert!(plan(Category::Static, 0, 1, &CONNECTX4).is_err());
    assert!(plan(Category::Static, 1, u64::MAX, &CONNECTX4).is_err());
    let odd = Adapter {
        total_uuars: 15,
        ..CONNECTX4
    };
    assert!(plan(Category::Static, 1, 1, &odd).is_err());
    let none = planned(&Category::Static.layout(4), 0);
    assert_eq!((none.bytes, none.node), (0, Resources::default()));
}
