use super::topology::Cpu;
use super::*;

/// Two packages of two NUMA nodes, each of one L3 cache and two cores of two hardware threads; CPU 8 + N is the second thread of the core of CPU N.
fn machine() -> Topology {
    let cpu = |number: u32| {
        let core = number % 8;
        Cpu {
            number,
            package: core / 4,
            numa: core / 2,
            l3: core / 2,
            l2: core,
            l1: core,
            core,
        }
    };
    Topology::new((0..16).map(cpu).collect())
}

fn shown(binding: &Binding, ranks: u32) -> String {
    match assign(binding, ranks, &machine(), 16) {
        Ok(Ok(shares)) => shares
            .iter()
            .map(|cpus| show_runs(cpus))
            .collect::<Vec<String>>()
            .join(" "),
        Ok(Err(reason)) => reason.into(),
        Err(problem) => problem,
    }
}

fn bound(to: Option<(Object, u32)>, map: Option<Object>) -> Binding {
    Binding {
        to: to.map_or(To::Share, |(object, count)| To::Objects(object, count)),
        map,
        ..Binding::default()
    }
}

#[test]
fn binds_to_objects() {
    use Object::{Core, HardwareThread, L2Cache, L3Cache, Machine, Numa, Package};
    for (to, map, ranks, masks) in [
        (Some((Core, 1)), None, 3, "0,8 1,9 2,10"),
        (Some((Core, 2)), None, 3, "0-1,8-9 2-3,10-11 4-5,12-13"),
        (Some((HardwareThread, 1)), None, 3, "0 8 1"),
        (Some((Package, 1)), None, 3, "0-3,8-11 4-7,12-15 0-3,8-11"),
        (Some((Machine, 1)), None, 2, "0-15 0-15"),
        (Some((Numa, 1)), None, 2, "0-1,8-9 2-3,10-11"),
        (Some((L3Cache, 3)), None, 2, "0-5,8-13 0-5,8-13"),
        (None, Some(Package), 2, "0-3,8-11 4-7,12-15"),
        (None, Some(Core), 2, "0,8 1,9"),
        (Some((Core, 1)), Some(Package), 5, "0,8 4,12 1,9 5,13 2,10"),
        (
            Some((Core, 1)),
            Some(Numa),
            9,
            "0,8 2,10 4,12 6,14 1,9 3,11 5,13 7,15 0,8",
        ),
        (
            Some((HardwareThread, 3)),
            Some(Package),
            3,
            "0-1,8 4-5,12 2,9-10",
        ),
        (
            Some((Package, 1)),
            Some(Core),
            5,
            "0-3,8-11 0-3,8-11 0-3,8-11 0-3,8-11 4-7,12-15",
        ),
        (Some((L2Cache, 2)), Some(Numa), 2, "0-1,8-9 2-3,10-11"),
    ] {
        assert_eq!(
            shown(&bound(to, map), ranks),
            masks,
            "{to:?} {map:?} {ranks}"
        );
    }
}

#[test]
fn cpus_for_each_rank_are_cores_or_hardware_threads() {
    let mut binding = Binding {
        cpus_per_rank: Some(2),
        ..Binding::default()
    };
    assert_eq!(shown(&binding, 2), "0-1,8-9 2-3,10-11");
    binding.map = Some(Object::Package);
    assert_eq!(shown(&binding, 3), "0-1,8-9 4-5,12-13 2-3,10-11");
    binding.counts_threads = true;
    assert_eq!(shown(&binding, 3), "0,8 4,12 1,9");
    binding.cpus_per_rank = Some(9);
    assert_eq!(
        shown(&binding, 1),
        "a rank cannot be bound to 9 of a kind (hwthread): the socket of CPUs 0-3,8-11 has 8 that mpiexec may use"
    );
}

#[test]
fn objects_have_several_ranks_each_and_ranks_are_numbered_by_objects() {
    let mut binding = bound(Some((Object::Core, 1)), Some(Object::Package));
    binding.per_object = Some(2);
    assert_eq!(shown(&binding, 5), "0,8 1,9 4,12 5,13 2,10");
    assert_eq!(
        binding.ranks_per_host(|object| machine().objects(object).len()),
        Some(4)
    );
    binding.rank_by = Some(RankBy::Objects(Object::Package));
    binding.map = Some(Object::Numa);
    assert_eq!(shown(&binding, 4), "0,8 1,9 2,10 3,11");
    binding.rank_by = Some(RankBy::Objects(Object::Machine));
    assert_eq!(shown(&binding, 4), "0,8 1,9 2,10 3,11");
    let mut cyclic = bound(Some((Object::Core, 1)), Some(Object::Package));
    cyclic.rank_by = Some(RankBy::Fill);
    assert_eq!(shown(&cyclic, 4), "0,8 1,9 4,12 5,13");
    let mut cores = bound(None, Some(Object::Core));
    cores.rank_by = Some(RankBy::Objects(Object::Package));
    assert_eq!(shown(&cores, 6), "0,8 4,12 1,9 5,13 2,10 3,11");
    cyclic.per_object = None;
    cyclic.spans_hosts = true;
    assert_eq!(
        cyclic.ranks_per_host(|object| machine().objects(object).len()),
        Some(2)
    );
}

#[test]
fn lists_and_sets_of_cpus() {
    let lists = Binding {
        to: To::Lists(vec![vec![0, 2], vec![5]]),
        ..Binding::default()
    };
    assert_eq!(shown(&lists, 3), "0,2 5 0,2");
    let each = Binding {
        to: To::Each,
        ..Binding::default()
    };
    assert_eq!(shown(&each, 3), "0 1 2");
    let within = Binding {
        within: Some(vec![1, 2, 10]),
        ..Binding::default()
    };
    assert_eq!(shown(&within, 2), "1 2,10");
    let beyond = Binding {
        within: Some(vec![1, 16]),
        ..Binding::default()
    };
    assert_eq!(
        shown(&beyond, 2),
        "CPU 16 is not among those that mpiexec may use (0-15)"
    );
    let unbound = Binding {
        to: To::None,
        map: Some(Object::Core),
        ..Binding::default()
    };
    assert_eq!(shown(&unbound, 2), "--bind-to none");
}

#[test]
fn a_quota_leaves_more_ranks_than_it_has_processors_unbound_by_default_alone() {
    let reason = assign(&Binding::default(), 3, &machine(), 2)
        .unwrap()
        .unwrap_err();
    assert!(reason.contains("quota"), "{reason}");
    assert!(
        assign(&Binding::default(), 2, &machine(), 2)
            .unwrap()
            .is_ok()
    );
    assert!(
        assign(&bound(Some((Object::Core, 1)), None), 3, &machine(), 2)
            .unwrap()
            .is_ok()
    );
}

#[test]
fn shows_and_reads_runs_of_cpus() {
    for (text, cpus) in [
        ("0-3,8", &[0, 1, 2, 3, 8][..]),
        ("5", &[5]),
        ("0-1,3", &[0, 1, 3]),
    ] {
        assert_eq!(show_runs(cpus), text);
        assert_eq!(parse_cpus(text).as_deref(), Some(cpus));
    }
    assert_eq!(show_runs(&[3, 1, 0]), "0-1,3");
    for wrong in ["", "a", "3-1", "0-", "-1", "0,,1", "0-4000000000"] {
        assert_eq!(parse_cpus(wrong), None, "{wrong}");
    }
}
