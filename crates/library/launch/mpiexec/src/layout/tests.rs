use super::*;
use crate::arguments::{self, Command};
use std::ffi::OsString;

fn job(text: &str) -> Job {
    match arguments::parse(text.split_whitespace().map(OsString::from)) {
        Ok(Command::Run(job)) => *job,
        other => panic!("{text}: {other:?}"),
    }
}

fn layout_in(text: &str, set: &[(&str, &str)]) -> Result<Layout, Usage> {
    let variable = |name: &str| {
        let found = set.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| OsString::from(value))
    };
    Layout::new(&job(text), &Here::new(Vec::new()), &variable)
}

/// The host of each rank, by name, this machine as `.`.
fn shown(text: &str, set: &[(&str, &str)]) -> String {
    let layout = layout_in(text, set).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    let name = |host: &u32| match &layout.hosts[*host as usize] {
        place if place.is_here => ".",
        place => place.name.as_str(),
    };
    let names: Vec<&str> = layout.host_of.iter().map(name).collect();
    names.join("")
}

#[test]
fn ranks_run_here_unless_hosts_are_named() {
    assert_eq!(shown("a", &[]), ".");
    assert_eq!(shown("-n 3 a : b", &[]), "....");
    assert_eq!(shown("-ppn 2 a", &[]), "..");
    assert_eq!(shown("-n 2 -host localhost,127.0.0.1 a", &[]), "..");
    assert!(layout_in("-n 5 -ppn 2 a", &[]).unwrap().is_here_alone());
}

#[test]
fn ranks_fill_hosts_by_slots() {
    for (text, hosts) in [
        ("-hosts x:2,y -n 5 a", "xxyxx"),
        ("-hosts x:2,y a", "xxy"),
        ("-host x -host y:2 a", "xyy"),
        ("-H x:1 -n 3 a", "xxx"),
        ("-hosts x,y -ppn 2 -n 4 a", "xxyy"),
        ("-hosts x:7,y:7 -N 1 a", "xy"),
        ("-hosts x,y --map-by ppr:3:node a", "xxxyyy"),
        ("-hosts x:2,y:2 --map-by node -n 4 a", "xyxy"),
        ("-hosts x:2,y:2 -rr -n 3 a", "xyx"),
        ("-hosts x:2,y -n 2 a : -n 2 b", "xxyx"),
        ("-hosts x,y -n 1 -host y a : -n 1 b", "yx"),
        ("-n 1 -host x a : -n 2 -host y b : c", "xyy."),
        ("-hosts x,localhost,y -n 3 a", "x.y"),
        ("-hosts x:2,y:2 --rank-by node a", "xyxy"),
        ("-hosts x:3,y:2 --rank-by node -n 2 a : -n 3 b", "xxxyy"),
        ("-hosts x:2,y:2 --map-by node --rank-by slot a", "xxyy"),
        ("-hosts x:2,y:2 --map-by node --rank-by node a", "xyxy"),
    ] {
        assert_eq!(shown(text, &[]), hosts, "{text}");
    }
    let layout = layout_in("-hosts x:2,y -n 5 a", &[]).unwrap();
    assert_eq!(layout.runs_of(), [vec![(0, 2), (3, 2)], vec![(2, 1)]]);
}

#[test]
fn batch_systems_tell_hosts_and_options_come_first() {
    let slurm = [
        ("SLURM_JOB_NODELIST", "x,y"),
        ("SLURM_TASKS_PER_NODE", "2,1"),
        ("SLURM_JOB_ID", "7"),
    ];
    assert_eq!(shown("a", &slurm), "xxy");
    assert_eq!(shown("-n 2 a", &slurm), "xx");
    assert_eq!(shown("-hosts z a", &slurm), "z");
    assert_eq!(layout_in("a", &slurm).unwrap().launcher, Launcher::Slurm);
    assert_eq!(
        layout_in("-launcher ssh a", &slurm).unwrap().launcher,
        Launcher::Ssh
    );
    assert_eq!(
        layout_in("a", &[("HYDRA_LAUNCHER", "fork")])
            .unwrap()
            .launcher,
        Launcher::Fork
    );
}

#[test]
fn each_mistake_is_one_line_that_names_it() {
    for (text, set, named) in [
        ("-n 99999999 a", &[][..], "more than"),
        ("--stdin 2 -n 2 a", &[], "only ranks 0 to 1"),
        (
            "-hosts x:2,y:1 --nooversubscribe -n 4 a",
            &[],
            "take 3 ranks",
        ),
        ("-hosts x -host y a", &[], "-host y"),
        ("a", &[("SLURM_JOB_NODELIST", "x[")], "SLURM_JOB_NODELIST"),
        ("a", &[("HYDRA_LAUNCHER", "rsh")], "HYDRA_LAUNCHER"),
    ] {
        let problem = layout_in(text, set).unwrap_err().0;
        assert!(
            problem.contains(named) && !problem.contains('\n'),
            "{text}: {problem}"
        );
    }
}
