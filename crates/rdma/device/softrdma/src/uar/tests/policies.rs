//! Which uUAR each queue pair and each thread domain gets, and with which lock.

use super::*;

#[test]
fn static_sequence_of_the_default_context() {
    let context = Host::new().open(Settings::default());
    let expected = [12, 13, 14, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3];
    assert_eq!(sequence(&context, 18), expected);
}

/// The driver's choice, written once more as a search over counts.
fn static_oracle(counts: &[u32], low_latency: usize) -> usize {
    let first_low = counts.len() - low_latency;
    let (lower, low) = counts.split_at(first_low);
    if let Some(free) = low.iter().position(|&count| count == 0) {
        return first_low + free;
    }
    let mut best = 0;
    for (number, count) in lower.iter().enumerate().skip(1) {
        if best == 0 || *count < lower[best] {
            best = number;
        }
    }
    best
}

#[test]
fn static_choice_follows_the_rule_while_queue_pairs_come_and_go() {
    for (total, low) in [(16, 4), (6, 2), (16, 15), (2, 1), (12, 0), (32, 20)] {
        let context = Host::new().open(uuars(total, low));
        let mut counts = vec![0; total as usize];
        let mut living: Vec<QueuePair> = Vec::new();
        let mut random = 12345u64;
        for _ in 0..2000 {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let draw = (random >> 33) as usize;
            if !living.is_empty() && draw % 5 < 2 {
                let gone = living.swap_remove(draw / 5 % living.len());
                counts[gone.uuar() as usize] -= 1;
            } else {
                let expected = static_oracle(&counts, low as usize);
                let queue_pair = context.create_qp(None).unwrap();
                assert_eq!(queue_pair.uuar() as usize, expected);
                counts[expected] += 1;
                living.push(queue_pair);
            }
        }
    }
}

#[test]
fn static_locks_are_those_of_medium_latency_uuars() {
    let host = Host::new();
    let context = host.open(uuars(6, 2));
    let queue_pairs: Vec<_> = (0..7).map(|_| context.create_qp(None).unwrap()).collect();
    for queue_pair in &queue_pairs {
        let is_medium = (1..4).contains(&queue_pair.uuar());
        let expected = if is_medium {
            Discipline::Taken
        } else {
            Discipline::Absent
        };
        assert_eq!(queue_pair.disciplines(), (Discipline::Taken, expected));
    }
    let crowded = host.open(uuars(2, 1));
    let queue_pairs: Vec<_> = (0..3).map(|_| crowded.create_qp(None).unwrap()).collect();
    assert_eq!(queue_pairs[2].uuar(), 0);
    assert_eq!(
        queue_pairs[2].disciplines(),
        (Discipline::Taken, Discipline::Absent)
    );
}

#[test]
fn uuar_n_is_on_page_n_over_2() {
    let context = Host::new().open(Settings::default());
    let queue_pairs: Vec<_> = (0..16).map(|_| context.create_qp(None).unwrap()).collect();
    for queue_pair in &queue_pairs {
        assert_eq!(queue_pair.page(), queue_pair.uuar() / 2);
    }
}

#[test]
fn dynamic_policy_opens_with_one_page_without_blueflame() {
    let host = Host::new();
    let _context = host.open(dynamic());
    let figures = host.figures();
    assert_eq!((figures.static_uars, figures.dynamic_uars), (1, 0));
}

#[test]
fn dynamic_policy_shares_from_the_17th_queue_pair_on() {
    let host = Host::new();
    let context = host.open(dynamic());
    let mut living = Vec::new();
    let mut pages = Vec::new();
    for _ in 0..18 {
        living.push(context.create_qp(None).unwrap());
        pages.push(host.figures().uars());
    }
    // Two pages for the four dedicated ones, then a page with each of the next six, then none.
    let expected = [2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9];
    assert_eq!(pages, expected);
    let numbers: Vec<u32> = living.iter().map(QueuePair::uuar).collect();
    assert_eq!(numbers[..16], (2..18).collect::<Vec<u32>>());
    assert_eq!(numbers[16..], [6, 7]);
    let locks: Vec<Discipline> = living.iter().map(|qp| qp.disciplines().1).collect();
    assert!(locks[..4].iter().all(|&lock| lock == Discipline::Absent));
    assert!(locks[4..].iter().all(|&lock| lock == Discipline::Taken));
}

#[test]
fn dynamic_policy_gives_left_dedicated_uuars_first() {
    let context = Host::new().open(dynamic());
    let mut living: Vec<_> = (0..6).map(|_| context.create_qp(None).unwrap()).collect();
    let left = [living.remove(2), living.remove(0)];
    let numbers = left.each_ref().map(QueuePair::uuar);
    for queue_pair in left {
        drop(queue_pair);
    }
    assert_eq!(sequence(&context, 2), numbers);
}

#[test]
fn dynamic_policy_prefers_shared_uuars_that_were_left() {
    let context = Host::new().open(dynamic());
    let mut living: Vec<_> = (0..28).map(|_| context.create_qp(None).unwrap()).collect();
    // All twelve shared ones have two queue pairs now; the one that loses one is next.
    let left = living.remove(20).uuar();
    assert_ne!(left, living[4].uuar());
    assert_eq!(sequence(&context, 1), [left]);
}

#[test]
fn dynamic_policy_takes_whole_pages_for_an_odd_number_of_dedicated_uuars() {
    let settings = Settings {
        low_latency_uuars: 5,
        ..dynamic()
    };
    let context = Host::new().open(settings);
    let queue_pairs: Vec<_> = (0..7).map(|_| context.create_qp(None).unwrap()).collect();
    let unlocked = queue_pairs
        .iter()
        .filter(|qp| qp.disciplines().1 == Discipline::Absent);
    assert_eq!(unlocked.count(), 6);
}

#[test]
fn dynamic_policy_without_blueflame_uses_the_uncached_page() {
    let host = Host::new();
    let settings = Settings {
        blueflame: false,
        ..dynamic()
    };
    let context = host.open(settings);
    assert_eq!(sequence(&context, 20), [0; 20]);
    assert_eq!(host.figures().uars(), 1);
}

#[test]
fn dynamic_policy_needs_no_low_latency_uuars() {
    let settings = Settings {
        low_latency_uuars: 0,
        total_uuars: 12,
        ..dynamic()
    };
    let context = Host::new().open(settings);
    assert_eq!(sequence(&context, 13)[12], 2);
}

#[test]
fn thread_domains_of_level_2_share_a_page_in_pairs() {
    for settings in [Settings::default(), dynamic()] {
        let context = Host::new().open(settings);
        let domains: Vec<_> = (0..6).map(|_| context.alloc_td(None).unwrap()).collect();
        let queue_pairs: Vec<_> = domains
            .iter()
            .map(|domain| context.create_qp(Some(domain)).unwrap())
            .collect();
        for pair in queue_pairs.chunks(2) {
            assert_eq!(pair[0].page(), pair[1].page());
            assert_ne!(pair[0].uuar(), pair[1].uuar());
        }
        assert_ne!(queue_pairs[0].page(), queue_pairs[2].page());
    }
}

#[test]
fn thread_domains_of_level_1_have_a_page_each() {
    for settings in [Settings::default(), dynamic()] {
        let context = Host::new().open(settings);
        let apart = |sharing| {
            let domain = context.alloc_td(Some(sharing)).unwrap();
            let page = context.create_qp(Some(&domain)).unwrap().page();
            (domain, page)
        };
        let domains = [
            apart(Sharing::Page),
            apart(Sharing::Page),
            apart(Sharing::Uuar),
            apart(Sharing::Page),
        ];
        let pages: BTreeSet<u32> = domains.iter().map(|(_, page)| *page).collect();
        assert_eq!(pages.len(), 4);
        // The half page that is left is for the next domain of level 2 only.
        let (_domain, page) = apart(Sharing::Uuar);
        assert_eq!(page, domains[2].1);
    }
}

#[test]
fn freed_thread_domains_are_used_again_in_the_order_of_the_policy() {
    for (settings, expected) in [(Settings::default(), [16, 17, 18]), (dynamic(), [4, 3, 2])] {
        let context = Host::new().open(settings);
        let mut domains: Vec<_> = (0..4).map(|_| context.alloc_td(None).unwrap()).collect();
        for place in [2, 1, 0] {
            domains.remove(place).dealloc().ok().unwrap();
        }
        let again: Vec<_> = (0..3).map(|_| context.alloc_td(None).unwrap()).collect();
        let numbers: Vec<u32> = again.iter().map(ThreadDomain::uuar).collect();
        assert_eq!(numbers, expected);
    }
}

#[test]
fn a_page_freed_by_level_1_serves_level_1_again() {
    let host = Host::new();
    let context = host.open(Settings::default());
    for _ in 0..10 {
        let domain = context.alloc_td(Some(Sharing::Page)).unwrap();
        assert_eq!(domain.uuar(), 16);
    }
    assert_eq!(host.figures().dynamic_uars, 1);
}

#[test]
fn a_thread_domain_is_busy_while_anything_holds_it() {
    let context = Host::new().open(Settings::default());
    let domain = context.alloc_td(None).unwrap();
    let queue_pair = context.create_qp(Some(&domain)).unwrap();
    let (error, domain) = domain.dealloc().unwrap_err();
    assert_eq!(error.errno(), libc::EBUSY);
    let parent_domain = domain.clone();
    drop(queue_pair);
    let (_, domain) = domain.dealloc().unwrap_err();
    drop(parent_domain);
    domain.dealloc().ok().unwrap();
}

#[test]
fn domains_of_a_context_are_limited_under_the_static_policy() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let level_2: Vec<_> = (0..1024).map(|_| context.alloc_td(None).unwrap()).collect();
    assert_eq!(context.alloc_td(None).err().unwrap().errno(), libc::ENOMEM);
    drop(level_2);
    let level_1: Vec<_> = (0..512)
        .map(|_| context.alloc_td(Some(Sharing::Page)).unwrap())
        .collect();
    assert!(context.alloc_td(Some(Sharing::Page)).is_err());
    assert_eq!(host.figures().dynamic_uars, 512);
    drop(level_1);
    let today = host.open(dynamic());
    let many: Vec<_> = (0..1026).map(|_| today.alloc_td(None).unwrap()).collect();
    drop(many);
}

#[test]
fn an_exhausted_device_refuses_and_keeps_nothing() {
    let host = Host::with_pages(10);
    let context = host.open(Settings::default());
    assert_eq!(
        host.try_open(Settings::default()).err().unwrap().errno(),
        libc::ENOMEM
    );
    assert_eq!(host.device.free(), 2);
    let domains = [(); 2].map(|()| context.alloc_td(Some(Sharing::Page)).unwrap());
    assert_eq!(context.alloc_td(None).err().unwrap().errno(), libc::ENOMEM);
    // Queue pairs go on: their uUARs are there.
    sequence(&context, 16);
    drop(domains);
    drop(context);
    assert_eq!(host.device.free(), 10);
    assert!(host.ledger.contexts().is_empty());
}

#[test]
fn queue_pairs_of_the_dynamic_policy_need_pages() {
    let host = Host::with_pages(3);
    let context = host.open(dynamic());
    let living: Vec<_> = (0..4).map(|_| context.create_qp(None).unwrap()).collect();
    assert_eq!(context.create_qp(None).err().unwrap().errno(), libc::ENOMEM);
    assert_eq!(host.figures().qps, 4);
    drop(living);
    sequence(&context, 4);
}
