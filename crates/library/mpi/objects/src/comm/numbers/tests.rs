use std::collections::BTreeSet;

use super::agreement::Agreement;
use super::*;

fn none() -> Vec<u32> {
    Vec::new()
}

fn of_serials<const N: usize>(serials: u32) -> [Contexts; N] {
    std::array::from_fn(|_| Contexts::of_serials(serials, none))
}

fn comm_id(handle: u64) -> CommId {
    // SAFETY: no call works on it.
    unsafe { CommId::named(handle) }
}

fn alone(contexts: &Contexts) -> u32 {
    contexts.alone().unwrap()
}

fn element_wise([a, b]: [i64; 2], [c, d]: [i64; 2]) -> [i64; 2] {
    [a.max(c), b.max(d)]
}

/// One agreement of all these processes: what they come to, and in how many rounds.
fn agree_all(processes: &[&Contexts]) -> (Vec<Result<u32>>, u32) {
    let mut all: Vec<Agreement> = processes.iter().map(|process| process.begin()).collect();
    for round in 1.. {
        let proposed = all.iter_mut().map(Agreement::propose);
        let agreed = proposed.reduce(element_wise).unwrap();
        let settled: Vec<_> = all.iter_mut().map(|one| one.conclude(agreed)).collect();
        assert!(round < 10_000, "they come to nothing");
        if !settled.iter().all(|one| matches!(one, Ok(None))) {
            let settled = settled.into_iter();
            return (settled.map(|one| one.map(Option::unwrap)).collect(), round);
        }
    }
    unreachable!()
}

/// As [`agree_all`], of processes that find a number.
fn agreed(processes: &[&Contexts]) -> (u32, u32) {
    let (found, rounds) = agree_all(processes);
    let numbers: BTreeSet<u32> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    (*numbers.first().unwrap(), rounds)
}

#[test]
fn a_freed_number_is_told_from_one_that_is_not_yet_bound() {
    let [contexts] = of_serials(100);
    let number = alone(&contexts);
    assert_eq!(contexts.standing(number), Standing::Unknown);
    contexts.bind(number, comm_id(5));
    assert_eq!(contexts.standing(number), Standing::Comm(comm_id(5)));
    let used = contexts.used.lock();
    assert_eq!(contexts.standing(number), Standing::Unknown);
    drop(used);
    contexts.release(number);
    assert_eq!(contexts.standing(number), Standing::Freed);
}

#[test]
fn a_number_is_not_used_again_in_its_lap() {
    let [contexts] = of_serials(100);
    let mut seen = BTreeSet::new();
    for _ in 1..100 {
        let number = alone(&contexts);
        assert!(seen.insert(place(number)), "{number}");
        contexts.release(number);
    }
    let again = alone(&contexts);
    assert!(seen.contains(&place(again)));
    assert_ne!(place(again), 0, "the predefined communicators' serial");
}

#[test]
fn numbers_in_use_are_passed_over_in_the_next_lap() {
    let [contexts] = of_serials(100);
    let kept: Vec<u32> = (0..10).map(|_| alone(&contexts)).collect();
    let kept: BTreeSet<u32> = kept.into_iter().map(place).collect();
    for _ in 0..1000 {
        let number = alone(&contexts);
        assert!(!kept.contains(&place(number)));
        contexts.release(number);
    }
}

/// A receive that waits in a freed communicator has no handle to be known by.
#[test]
fn numbers_that_messages_wait_under_are_passed_over() {
    fn waiting() -> Vec<u32> {
        vec![7 << LANE_BITS | 3, 9 << LANE_BITS]
    }
    let contexts = Contexts::of_serials(20, waiting);
    let lap = |contexts: &Contexts, count: u32| -> BTreeSet<u32> {
        let numbers = (0..count).map(|_| alone(contexts));
        let release = |number: &u32| contexts.release(*number);
        numbers.inspect(release).map(place).collect()
    };
    assert_eq!(
        lap(&contexts, 19),
        BTreeSet::from_iter(1..20),
        "nothing waits as it begins"
    );
    for _ in 0..3 {
        let all_but = (1..20).filter(|serial| ![7, 9].contains(serial));
        assert_eq!(lap(&contexts, 17), BTreeSet::from_iter(all_but));
    }
}

#[test]
fn one_that_is_freed_in_front_of_the_lap_waits_for_the_next() {
    let [contexts] = of_serials(20);
    let numbers: Vec<u32> = (0..19).map(|_| alone(&contexts)).collect();
    for &number in numbers.iter().filter(|&&number| place(number) < 10) {
        contexts.release(number);
    }
    // Into the second lap; what waits was looked up as it began.
    assert_eq!(place(alone(&contexts)), 1);
    let late = numbers[14];
    assert_eq!(place(late), 15);
    contexts.release(late);
    for serial in 2..10 {
        assert_eq!(place(alone(&contexts)), serial);
    }
    // The third.
    contexts.release(numbers[0]);
    let next = alone(&contexts);
    assert_eq!(place(next), 1);
    assert_eq!(place(alone(&contexts)), 15);
}

#[test]
fn lanes_are_used_alike() {
    let [contexts] = of_serials(1000);
    let lane_of_next = || lane(alone(&contexts));
    let of_next = |count: u32| -> Vec<usize> { (0..count).map(|_| lane_of_next()).collect() };
    let [few, all] = [LANES_WITHOUT_THREADS, LANES].map(|lanes| lanes as usize);
    let after_the_predefined = Vec::from_iter((2..few).chain([0, 1]));
    assert_eq!(of_next(LANES_WITHOUT_THREADS), after_the_predefined);
    contexts.expect_threads();
    // The new ones are the emptiest until they have as many.
    let new: Vec<usize> = (few..all).collect();
    assert_eq!(of_next(LANES - LANES_WITHOUT_THREADS), new);
    // One that is made and freed again and again keeps to its lane.
    for _ in 0..20 {
        let number = alone(&contexts);
        assert_eq!(lane(number), 2);
        contexts.release(number);
    }
}

#[test]
fn processes_that_have_seen_unlike_many_agree_in_two_rounds() {
    let [a, b, c] = of_serials(SERIALS);
    for count in 0..200 {
        for _ in 0..count % 7 {
            alone(&a);
        }
        for _ in 0..count % 3 {
            agreed(&[&b, &c]);
        }
        let (number, rounds) = agreed(&[&a, &b, &c]);
        assert!(rounds <= 2, "{rounds}");
        if count % 2 == 0 {
            [&a, &b, &c]
                .into_iter()
                .for_each(|process| process.release(number));
        }
    }
}

/// `MPI_Comm_create` of one process in turn: all agree, one keeps the number.
#[test]
fn those_of_one_process_each_are_agreed_on_in_one_round() {
    let processes: [Contexts; 4] = of_serials(SERIALS);
    let all = processes.each_ref();
    for made in 0..1 << 16 {
        let (number, rounds) = agreed(&all);
        assert_eq!(rounds, 1, "after {made}");
        for (rank, process) in all.iter().enumerate() {
            if rank != made % all.len() {
                process.release(number);
            }
        }
    }
}

/// In the lap after, what is left behind does not cost a round each.
#[test]
fn interleaved_numbers_of_the_lap_before_are_left_behind() {
    let processes: [Contexts; 2] = of_serials(1 << 16);
    let [even, odd] = &processes;
    for made in 0..1 << 12 {
        let (number, _) = agreed(&[even, odd]);
        [odd, even][made % 2].release(number);
    }
    let mut most = 0;
    for _ in 0..1 << 16 {
        let (number, rounds) = agreed(&[even, odd]);
        most = most.max(rounds);
        [even, odd]
            .into_iter()
            .for_each(|process| process.release(number));
    }
    assert!((3..100).contains(&most), "{most} rounds");
}

#[test]
fn agreements_that_take_each_others_numbers_end() {
    // Each process has the agreements' turns in its own order, the same in all rounds.
    for count in 2..9 {
        let processes: [Contexts; 2] = of_serials(SERIALS);
        let mut agreements: Vec<_> = (0..count)
            .map(|_| processes.each_ref().map(Contexts::begin))
            .collect();
        let mut numbers = vec![None; count];
        for round in 0.. {
            assert!(round < 100, "{count} agreements");
            let open: Vec<usize> = (0..count).filter(|&i| numbers[i].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let mut proposed = vec![[[0; 2]; 2]; count];
            for &i in &open {
                proposed[i][0] = agreements[i][0].propose();
            }
            for &i in open.iter().rev() {
                proposed[i][1] = agreements[i][1].propose();
            }
            for &i in &open {
                let agreed = element_wise(proposed[i][0], proposed[i][1]);
                let settled = agreements[i].each_mut().map(|one| one.conclude(agreed));
                let [Ok(mine), Ok(other)] = settled else {
                    panic!("{count} agreements: no number is free");
                };
                assert_eq!(mine, other);
                numbers[i] = mine;
            }
        }
        let different: BTreeSet<u32> = numbers.iter().flatten().copied().collect();
        assert_eq!(different.len(), count);
    }
}

/// The agreement that goes first may need this very thread to go on.
#[test]
fn a_process_alone_waits_for_no_agreement() {
    let [contexts] = of_serials(SERIALS);
    contexts.insist(Insistence {
        key: 0,
        form: Form::Blocking,
    });
    assert!(matches!(
        contexts.reserve(FIRST, None),
        Reserved::Abstained(..)
    ));
    let mut rounds = 0;
    let number = contexts.agree(true, |pair| {
        rounds += 1;
        assert!(rounds < 100, "it waits for the one that insists");
        Ok(pair)
    });
    assert_eq!(place(number.unwrap()), 1);
}

/// A process that has begun a nonblocking agreement need not call again before those who wait here have ended.
#[test]
fn nobody_waits_for_a_nonblocking_agreement_that_stands_still() {
    for rounds in 0..10 {
        let [a, b, still] = of_serials(SERIALS);
        let begin = || [&b, &still].map(Contexts::begin_nonblocking);
        let [mut one, mut other] = [begin(), begin()];
        let mut open = 2;
        for _ in 0..rounds {
            // Each process has them in its own order.
            let mine = [&mut one[0], &mut other[0]].map(Agreement::propose);
            let [theirs_of_other, theirs_of_one] =
                [&mut other[1], &mut one[1]].map(Agreement::propose);
            let agreed = [
                element_wise(mine[0], theirs_of_one),
                element_wise(mine[1], theirs_of_other),
            ];
            let settled = [&mut one, &mut other].into_iter().zip(agreed);
            open = settled
                .map(|(both, agreed)| both.each_mut().map(|end| end.conclude(agreed).unwrap()))
                .filter(|numbers| *numbers == [None; 2])
                .count();
            if open < 2 {
                break;
            }
        }
        assert!(open == 2 || rounds > 2, "they collide at first");
        // One of them has been heard of here, and the other process says nothing more.
        one[0].propose();
        let (_, rounds) = agreed(&[&a, &b]);
        assert!(rounds < 50, "{rounds} rounds");
    }
}

#[test]
fn nobody_is_overtaken_for_long() {
    overtaken_seldom(Contexts::begin, Contexts::begin);
}

#[test]
fn nonblocking_agreements_are_not_overtaken_for_long() {
    overtaken_seldom(Contexts::begin_nonblocking, Contexts::begin_nonblocking);
}

/// One nonblocking beside many blocking ones, and the reverse.
#[test]
fn agreements_of_both_forms_are_not_overtaken_for_long() {
    overtaken_seldom(Contexts::begin_nonblocking, Contexts::begin);
    overtaken_seldom(Contexts::begin, Contexts::begin_nonblocking);
}

/// Threads of four processes make communicators all the time; each process has favourites of its own among its threads. One of
/// the threads begins its agreements by `first`.
fn overtaken_seldom(
    first: for<'a> fn(&'a Contexts) -> Agreement<'a>,
    others: for<'a> fn(&'a Contexts) -> Agreement<'a>,
) {
    const THREADS: usize = 8;
    let processes: [Contexts; 4] = of_serials(SERIALS);
    let begin = |thread| {
        let form = if thread == 0 { first } else { others };
        processes.each_ref().map(form)
    };
    let mut agreements: Vec<_> = (0..THREADS).map(begin).collect();
    let mut proposed = vec![[None; 4]; THREADS];
    let mut began = [0; THREADS];
    let (mut random, mut most, mut made) = (12345u64, 0, 0);
    while made < 500 {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let process = (random >> 33) as usize % 4;
        let draws = [36, 42, 48, 54].map(|bits| (random >> bits) as usize % THREADS);
        let favoured = draws.into_iter().min().unwrap();
        let thread = (favoured + process * THREADS / 4) % THREADS;
        if proposed[thread][process].is_none() {
            proposed[thread][process] = Some(agreements[thread][process].propose());
        }
        let Some(all) = proposed[thread].iter().copied().collect::<Option<Vec<_>>>() else {
            continue;
        };
        proposed[thread] = [None; 4];
        let agreed = all.into_iter().reduce(element_wise).unwrap();
        let settled = agreements[thread]
            .each_mut()
            .map(|one| one.conclude(agreed));
        let numbers = settled.map(|one| one.expect("there are numbers"));
        if let Some(number) = numbers[0] {
            assert_eq!(numbers, [Some(number); 4]);
            processes.iter().for_each(|process| process.release(number));
            most = most.max(made - std::mem::replace(&mut began[thread], made + 1));
            agreements[thread] = begin(thread);
            made += 1;
        }
    }
    assert!(most < 100, "overtaken {most} times");
}

#[test]
fn without_a_number_free_at_both_all_fail() {
    let [mine, other] = of_serials(64);
    let numbers: Vec<u32> = (0..63).map(|_| agreed(&[&mine, &other]).0).collect();
    // Each has a third that the other has not, and both have the last.
    for (at, &number) in numbers.iter().enumerate() {
        match at % 3 {
            0 => mine.release(number),
            1 => other.release(number),
            _ => {}
        }
    }
    let failed = |(found, _): (Vec<Result<u32>>, u32)| {
        let classes = found.into_iter().map(|one| one.unwrap_err().class);
        assert_eq!(classes.collect::<Vec<_>>(), [Class::Other; 2]);
    };
    failed(agree_all(&[&mine, &other]));
    // One that has none at all fails the others too.
    let full = Contexts::of_serials(64, none);
    for _ in 0..63 {
        alone(&full);
    }
    failed(agree_all(&[&full, &mine]));
    // One that both have free is found, wherever it is.
    other.release(numbers[30]);
    let (number, _) = agreed(&[&mine, &other]);
    assert_eq!(place(number), place(numbers[30]));
}

#[test]
fn handles_are_found_by_number() {
    let [contexts] = of_serials(100);
    assert_eq!(contexts.comm(0), Some(CommId::WORLD));
    assert_eq!(contexts.comm(1), Some(CommId::SELF));
    let number = alone(&contexts);
    assert_eq!(contexts.comm(number), None);
    contexts.bind(number, comm_id(77));
    assert_eq!(contexts.comm(number), Some(comm_id(77)));
    contexts.release(number);
    assert_eq!(contexts.comm(number), None);
    assert_eq!(
        [WHOLE_JOB, UNAGREED].map(|number| contexts.comm(number)),
        [None; 2]
    );
}
