//! Every number of Zambre 2018 that follows from the policy. `docs/uar-accounting.md` has the rows that do not.

use super::*;

const THREADS: u64 = 16;

/// The six categories (§VI), each thread with `per_thread` queue pairs of its own and a completion queue.
#[derive(Clone, Copy)]
enum Category {
    MpiEverywhere,
    TwoTimesDynamic,
    Dynamic,
    SharedDynamic,
    Static,
    MpiThreads,
}

use Category::*;

/// What a process keeps open.
#[derive(Default)]
struct Endpoints {
    contexts: Vec<Context>,
    queue_pairs: Vec<QueuePair>,
    completion_queues: Vec<CompletionQueue>,
}

impl Category {
    /// The endpoints of `threads` threads with `per_thread` queue pairs each, in as many contexts as the category has.
    fn endpoints(self, host: &Host, threads: u64, per_thread: u64) -> Endpoints {
        self.endpoints_with(Settings::default(), host, threads, per_thread)
    }

    fn endpoints_with(
        self,
        settings: Settings,
        host: &Host,
        threads: u64,
        per_thread: u64,
    ) -> Endpoints {
        let mut endpoints = Endpoints::default();
        let contexts = match self {
            MpiEverywhere => threads,
            _ => 1,
        };
        for _ in 0..contexts {
            let context = host.open(settings.clone());
            let queue_pairs = match self {
                MpiThreads => 1,
                TwoTimesDynamic => 2 * threads * per_thread,
                _ => threads / contexts * per_thread,
            };
            for _ in 0..queue_pairs {
                self.add_endpoint(&context, &mut endpoints);
            }
            endpoints.contexts.push(context);
        }
        endpoints
    }

    fn add_endpoint(self, context: &Context, endpoints: &mut Endpoints) {
        let sharing = match self {
            TwoTimesDynamic | Dynamic => Some(Sharing::Page),
            SharedDynamic => Some(Sharing::Uuar),
            MpiEverywhere | Static | MpiThreads => None,
        };
        let domain = sharing.map(|_| context.alloc_td(sharing).unwrap());
        let queue_pair = context.create_qp(domain.as_ref()).unwrap();
        endpoints.queue_pairs.push(queue_pair);
        endpoints
            .completion_queues
            .push(context.create_cq(false).unwrap());
    }

    fn figures(self, threads: u64) -> Figures {
        let host = Host::new();
        let _endpoints = self.endpoints(&host, threads, 1);
        host.figures()
    }
}

/// "one TD-assigned QP per context per thread" (§IV, fig. 3).
fn naive_endpoints(host: &Host, threads: u64) -> Endpoints {
    let mut endpoints = Endpoints::default();
    for _ in 0..threads {
        let context = host.open(Settings::default());
        Dynamic.add_endpoint(&context, &mut endpoints);
        endpoints.contexts.push(context);
    }
    endpoints
}

#[test]
fn a_context_has_8_uars_and_16_uuars_of_which_4_are_low_latency() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let figures = host.figures();
    assert_eq!((figures.uars(), figures.uuars()), (8, 16));
    assert_eq!(sequence(&context, 4), [12, 13, 14, 15]);
}

#[test]
fn of_16_queue_pairs_the_5th_and_16th_share_a_uuar() {
    let context = Host::new().open(Settings::default());
    let numbers = sequence(&context, 16);
    assert_eq!(numbers[4], numbers[15]);
    let distinct: BTreeSet<u32> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), 15);
}

#[test]
fn static_wastes_a_uuar_also_at_16_threads() {
    let figures = Static.figures(THREADS);
    assert_eq!((figures.uuars(), figures.used_uuars), (16, 15));
    assert_eq!(figures.wasted_uuars(), 1);
}

#[test]
fn figure_16_six_uuars_seven_queue_pairs_three_domains() {
    let host = Host::new();
    let context = host.open(uuars(6, 2));
    let queue_pairs: Vec<_> = (0..7).map(|_| context.create_qp(None).unwrap()).collect();
    let numbers: Vec<u32> = queue_pairs.iter().map(QueuePair::uuar).collect();
    assert_eq!(numbers, [4, 5, 1, 2, 3, 1, 2]);
    let domains: Vec<_> = (0..3).map(|_| context.alloc_td(None).unwrap()).collect();
    let pages: Vec<u32> = domains
        .iter()
        .map(|domain| context.create_qp(Some(domain)).unwrap().page())
        .collect();
    assert_eq!(pages, [3, 3, 4]);
}

#[test]
fn with_all_but_one_low_latency_the_rest_go_to_uuar_0() {
    let context = Host::new().open(uuars(16, 15));
    let expected: Vec<u32> = (1..=15).chain([0, 0, 0]).collect();
    assert_eq!(sequence(&context, 18), expected);
}

#[test]
fn mpi_everywhere_wastes_93_75_percent() {
    let figures = MpiEverywhere.figures(THREADS);
    assert_eq!(figures.wasted_uuars() * 10_000 / figures.uuars(), 9375);
}

#[test]
fn a_context_with_one_domain_has_9_uars_18_uuars_and_wastes_94_percent() {
    let host = Host::new();
    let _endpoints = naive_endpoints(&host, 1);
    let figures = host.figures();
    assert_eq!((figures.uars(), figures.uuars()), (9, 18));
    assert_eq!(figures.wasted_uuars() * 1000 / figures.uuars(), 944);
}

#[test]
fn the_device_has_room_for_907_contexts_of_9_pages() {
    let host = Host::new();
    let endpoints = naive_endpoints(&host, 907);
    let error = host
        .try_open(Settings::default())
        .and_then(|context| context.alloc_td(None).map(drop));
    assert_eq!(error.unwrap_err().errno(), libc::ENOMEM);
    drop(endpoints);
    assert_eq!(host.device.free(), 8192 - 29);
}

#[test]
fn any_reserve_from_21_to_29_pages_gives_907() {
    let contexts = |reserve| (adapter::DEVICE_PAGES - reserve) / 9;
    assert_eq!([20, 21, 29, 30].map(contexts), [908, 907, 907, 906]);
}

#[test]
fn a_context_has_up_to_512_independent_domains() {
    let context = Host::new().open(Settings::default());
    let domains: Vec<_> = (0..513)
        .map(|_| context.alloc_td(Some(Sharing::Page)))
        .collect();
    assert_eq!(domains.iter().filter(|domain| domain.is_ok()).count(), 512);
}

#[test]
fn uars_and_uuars_of_the_categories_at_16_threads() {
    let everywhere = MpiEverywhere.figures(THREADS);
    assert_eq!((everywhere.uars(), everywhere.uuars()), (128, 256));
    for (category, uars, uuars, hundredths) in [
        (TwoTimesDynamic, 40, 80, 3125),
        (Dynamic, 24, 48, 1875),
        (SharedDynamic, 16, 32, 1250),
        (Static, 8, 16, 625),
        (MpiThreads, 8, 16, 625),
    ] {
        let figures = category.figures(THREADS);
        assert_eq!((figures.uars(), figures.uuars()), (uars, uuars));
        assert_eq!(figures.uars() * 10_000 / everywhere.uars(), hundredths);
        assert_eq!(figures.uuars() * 10_000 / everywhere.uuars(), hundredths);
    }
}

#[test]
fn fully_independent_paths_take_3_2_times_fewer_uars() {
    let ratio =
        MpiEverywhere.figures(THREADS).uars() * 10 / TwoTimesDynamic.figures(THREADS).uars();
    assert_eq!(ratio, 32);
}

#[test]
fn context_sharing_takes_80_uuars_instead_of_288_and_6_and_9_times_fewer() {
    let host = Host::new();
    let _endpoints = naive_endpoints(&host, THREADS);
    let naive = host.figures();
    assert_eq!((naive.uars(), naive.uuars()), (144, 288));
    assert_eq!(TwoTimesDynamic.figures(THREADS).uuars(), 80);
    assert_eq!(naive.uuars() / Dynamic.figures(THREADS).uuars(), 6);
    assert_eq!(naive.uuars() / SharedDynamic.figures(THREADS).uuars(), 9);
}

#[test]
fn shared_dynamic_adds_half_as_many_uars_as_threads_but_as_many_uuars() {
    let figures = SharedDynamic.figures(THREADS);
    assert_eq!((figures.dynamic_uars, figures.dynamic_uuars), (8, 16));
    assert_eq!(Dynamic.figures(THREADS).dynamic_uuars, 32);
}

#[test]
fn mpi_threads_takes_8_uars_and_16_uuars_for_one_queue_pair() {
    let figures = MpiThreads.figures(THREADS);
    assert_eq!((figures.uars(), figures.uuars()), (8, 16));
    assert_eq!((figures.qps, figures.cqs, figures.used_uuars), (1, 1, 1));
}

#[test]
fn table_1_bytes_of_one_endpoint() {
    let host = Host::new();
    let endpoints = MpiEverywhere.endpoints(&host, 1, 1);
    let context = &endpoints.contexts[0];
    let _counted = [Object::ProtectionDomain, Object::MemoryRegion].map(|o| context.count(o));
    let bytes = host.figures().bytes();
    assert_eq!(bytes, 345 * 1024 + 288);
    assert_eq!(adapter::CONTEXT_BYTES * 1000 / bytes, 741);
    assert_eq!(adapter::CONTEXT_BYTES * 1000 / (345 * 1024), 742);
    // 354 is 345 with two digits exchanged.
    assert_eq!(adapter::CONTEXT_BYTES * 1000 / (354 * 1024), 723);
}

/// Bytes of queue pairs and completion queues alone.
fn queue_bytes(figures: &Figures) -> u64 {
    figures.qps * adapter::QP_BYTES + figures.cqs * adapter::CQ_BYTES
}

#[test]
fn queues_take_89_kib_with_one_thread_and_1_39_mib_with_16() {
    assert_eq!(queue_bytes(&Dynamic.figures(1)), 89 << 10);
    let bytes = queue_bytes(&Dynamic.figures(THREADS));
    assert_eq!(bytes, 1424 << 10);
    assert_eq!((bytes * 100) >> 20, 139);
}

#[test]
fn mpi_everywhere_takes_5_39_mib() {
    let bytes = MpiEverywhere.figures(THREADS).bytes();
    assert_eq!(bytes, 5520 << 10);
    assert_eq!((bytes * 100) >> 20, 539);
}

#[test]
fn the_1_64_mib_that_the_paper_gives_for_2xdynamic_are_dynamics() {
    let dynamic = Dynamic.figures(THREADS).bytes();
    assert_eq!((dynamic * 100) >> 20, 164);
    assert_eq!(MpiEverywhere.figures(THREADS).bytes() * 100 / dynamic, 328);
    let twice = TwoTimesDynamic.figures(THREADS).bytes();
    assert_eq!((twice * 100) >> 20, 303);
    assert_eq!(MpiEverywhere.figures(THREADS).bytes() * 100 / twice, 177);
}

#[test]
fn queue_memory_relative_to_mpi_everywhere() {
    let everywhere = queue_bytes(&MpiEverywhere.figures(THREADS));
    let percent =
        |category: Category| queue_bytes(&category.figures(THREADS)) * 10_000 / everywhere;
    assert_eq!(percent(TwoTimesDynamic), 20_000);
    assert_eq!([Dynamic, SharedDynamic, Static].map(percent), [10_000; 3]);
    assert_eq!(percent(MpiThreads), 625);
}

#[test]
fn sharing_queue_pairs_saves_16_times_and_completion_queues_1_1_times() {
    let all = queue_bytes(&Dynamic.figures(THREADS));
    assert_eq!(all / queue_bytes(&MpiThreads.figures(THREADS)), 16);
    let host = Host::new();
    let mut endpoints = Dynamic.endpoints(&host, THREADS, 1);
    endpoints.completion_queues.truncate(1);
    let one_cq = queue_bytes(&host.figures());
    assert_eq!(one_cq, 1289 << 10);
    assert_eq!(all * 100 / one_cq, 110);
}

/// The hybrid runs of fig. 14: `ranks` processes of `threads` threads, two queue pairs a thread.
fn stencil_uars(category: Category, ranks: u64, threads: u64) -> u64 {
    let host = Host::new();
    let _ranks: Vec<_> = (0..ranks)
        .map(|_| category.endpoints(&host, threads, 2))
        .collect();
    host.figures().uars()
}

#[test]
fn stencil_uars_of_ranks_and_threads() {
    for (ranks, threads) in [(16, 1), (4, 4), (1, 16)] {
        let uars = |category| stencil_uars(category, ranks, threads);
        assert_eq!(uars(TwoTimesDynamic), ranks * (8 + 4 * threads));
        assert_eq!(uars(Dynamic), ranks * (8 + 2 * threads));
        assert_eq!(uars(SharedDynamic), ranks * (8 + threads));
        assert_eq!(uars(Static), 8 * ranks);
        assert_eq!(uars(MpiThreads), 8 * ranks);
        assert_eq!(uars(MpiEverywhere), 8 * ranks * threads);
    }
    let at_16_1 = [TwoTimesDynamic, Dynamic, SharedDynamic, Static];
    assert_eq!(
        at_16_1.map(|c| stencil_uars(c, 16, 1)),
        [192, 160, 144, 128]
    );
}

#[test]
fn stencil_4_4_two_of_eight_queue_pairs_are_alone_on_a_page() {
    let context = Host::new().open(Settings::default());
    let numbers = sequence(&context, 8);
    assert_eq!(numbers, [12, 13, 14, 15, 1, 2, 3, 4]);
    let alone: Vec<usize> = (0..8)
        .filter(|&at| !numbers.contains(&(numbers[at] ^ 1)))
        .collect();
    // The 5th, as the paper says, and the 8th, counted from 1; in four ranks eight, as the paper says.
    assert_eq!(alone, [4, 7]);
}

#[test]
fn stencil_1_16_28_of_32_queue_pairs_share_a_uuar() {
    let context = Host::new().open(Settings::default());
    let numbers = sequence(&context, 32);
    let together = |number| numbers.iter().filter(|&&other| other == number).count();
    let shared = numbers
        .iter()
        .filter(|&&number| together(number) > 1)
        .count();
    assert_eq!(shared, 28);
}

#[test]
fn todays_policy_at_16_threads() {
    let host = Host::new();
    let context = host.open(dynamic());
    let living: Vec<_> = (0..16).map(|_| context.create_qp(None).unwrap()).collect();
    let figures = host.figures();
    assert_eq!((figures.uars(), figures.used_uuars), (9, 16));
    drop((living, context));
    let context = host.open(dynamic());
    let _domain = context.alloc_td(None).unwrap();
    assert_eq!(host.figures().uars(), 2);
}

#[test]
fn the_categories_under_todays_policy() {
    for (category, uars) in [
        (MpiEverywhere, 32),
        (TwoTimesDynamic, 33),
        (Dynamic, 17),
        (SharedDynamic, 9),
        (Static, 9),
        (MpiThreads, 2),
    ] {
        let host = Host::new();
        let _endpoints = category.endpoints_with(dynamic(), &host, THREADS, 1);
        let figures = host.figures();
        assert_eq!((figures.uars(), figures.uuars()), (uars, 2 * uars));
    }
}

/// The worked example of the document: used uUARs and memory in KiB under the static policy.
#[test]
fn used_uuars_and_memory_of_the_categories() {
    for (category, used, kib) in [
        (MpiEverywhere, 16, 5520),
        (TwoTimesDynamic, 32, 3104),
        (Dynamic, 16, 1680),
        (SharedDynamic, 16, 1680),
        (Static, 15, 1680),
        (MpiThreads, 1, 345),
    ] {
        let figures = category.figures(THREADS);
        assert_eq!((figures.used_uuars, figures.bytes()), (used, kib << 10));
    }
}
