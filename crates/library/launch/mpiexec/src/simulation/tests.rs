use super::*;
use std::collections::VecDeque;

/// Processes that start as the library's do, in as many fences.
struct Process {
    rank: u32,
    /// What it still has to say, and whether it waits.
    lines: VecDeque<String>,
    told: Vec<String>,
}

fn put(key: &str, value: &str) -> String {
    format!("cmd=put key={key} value={value}")
}

fn get(key: &str) -> String {
    format!("cmd=get key={key}")
}

/// Every process puts a card, the first of a host a fact, and rank 0 reads the facts of all hosts and puts another, which all read.
fn processes(simulation: &Simulation, firsts: &[u32]) -> Vec<Process> {
    let script = |rank: u32| {
        let mut lines = vec!["cmd=init pmi_version=1 pmi_subversion=1".to_owned()];
        lines.push(put(&format!("weft-card-{rank}"), "1:|card"));
        lines.push("cmd=barrier_in".to_owned());
        if firsts.contains(&rank) {
            lines.push(put(&format!("weft-cores-{rank}"), "2"));
        }
        lines.push("cmd=barrier_in".to_owned());
        if rank == 0 {
            let facts = firsts.iter().map(|first| format!("weft-cores-{first}"));
            let facts: Vec<String> = facts.collect();
            lines.extend(facts.chunks(128).map(|some| get(&some.join(","))));
            lines.push(put("weft-verdict-0", "1"));
        }
        lines.push("cmd=barrier_in".to_owned());
        lines.push(get("weft-verdict-0"));
        lines.into()
    };
    let all = simulation.processes().into_iter();
    all.map(|rank| Process {
        rank,
        lines: script(rank),
        told: Vec::new(),
    })
    .collect()
}

/// Each says its next line once it is told the answer to the one before.
fn run(simulation: &mut Simulation, processes: &mut [Process]) {
    let mut saying: VecDeque<u32> = processes.iter().map(|process| process.rank).collect();
    let find = |processes: &[Process], rank| processes.iter().position(|p| p.rank == rank).unwrap();
    while let Some(rank) = saying.pop_front() {
        let at = find(processes, rank);
        let Some(line) = processes[at].lines.pop_front() else {
            continue;
        };
        for reply in simulation.line(rank, &line) {
            let at = find(processes, reply.rank);
            processes[at].told.push(reply.line);
            saying.push_back(reply.rank);
        }
    }
}

fn start(ranks: u32, per_host: u32, dealt: bool) -> (Simulation, Vec<Process>) {
    let mut simulation = Simulation::new(ranks, per_host, dealt).unwrap();
    let firsts: Vec<u32> = simulation.runs.iter().map(|runs| runs[0].0).collect();
    let mut processes = processes(&simulation, &firsts);
    run(&mut simulation, &mut processes);
    (simulation, processes)
}

#[test]
fn a_job_of_any_shape_starts() {
    for (ranks, per_host) in [
        (1, 1),
        (2, 1),
        (3, 2),
        (4, 4),
        (7, 3),
        (64, 2),
        (129, 64),
        (500, 4),
    ] {
        for dealt in [false, true] {
            let (simulation, processes) = start(ranks, per_host, dealt);
            for process in &processes {
                let shape = (ranks, per_host, dealt, process.rank);
                assert!(process.lines.is_empty(), "{shape:?}");
                let last = process.told.last().unwrap();
                assert_eq!(last, "cmd=get_result rc=0 value=1\n", "{shape:?}");
            }
            if simulation.hosts() > 1 {
                for rank in 0..ranks {
                    let card = simulation.store.get(&format!("weft-card-{rank}"));
                    assert_eq!(card.as_deref(), Some("1:|card"), "rank {rank} of {ranks}");
                }
                for runs in &simulation.runs {
                    let fact = simulation.store.get(&format!("weft-cores-{}", runs[0].0));
                    assert_eq!(fact.as_deref(), Some("2"));
                }
            }
        }
    }
}

#[test]
fn messages_are_counted_at_every_node() {
    let (simulation, _) = start(6, 2, false);
    let counts = simulation.counts();
    // init, card, three fences, verdict; each is answered. Rank 0 has a fact, a verdict and one question for the facts of all hosts
    // besides.
    assert_eq!(counts.lines(1), 2 * 6);
    assert_eq!(counts.lines(0), 2 * (6 + 2 + 1));
    assert_eq!(counts.lines_of_host(), 2 * (6 + 9));
    // Of each host: start, started, two frames with what was put, and three fences and releases; host 0 puts the verdict, and asks
    // for the facts; the others ask for the verdict.
    let each = 2 + 2 + 6;
    assert_eq!(counts.head().messages, 3 * each + 1 + 2 + 2 * 2);
    assert_eq!(counts.busiest_agent().messages, each + 1 + 2);
    assert!(counts.head().bytes > 0);
}

#[test]
fn one_host_has_no_agents() {
    let (simulation, _) = start(4, 4, false);
    assert_eq!(simulation.counts().head(), Traffic::default());
    assert_eq!(simulation.counts().busiest_agent(), Traffic::default());
}

#[test]
fn mpiexec_has_32_children_and_they_have_the_others() {
    let (simulation, _) = start(100, 1, false);
    let (all, few) = (simulation.counts(), start(32, 1, false).0);
    // All that agents say passes through mpiexec's children, and a broadcast once over each way.
    let agent = all.busiest_agent().messages;
    assert!(agent > few.counts().busiest_agent().messages);
    assert!(all.head().messages < 100 * 16);
}

#[test]
fn a_card_that_is_asked_for_later_is_given_and_not_counted() {
    let (mut simulation, _) = start(8, 2, true);
    let before = (simulation.counts().lines(0), simulation.counts().head());
    let told = simulation.line(0, &get("weft-card-7"));
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].rank, &*told[0].line),
        (0, "cmd=get_result rc=0 value=1:|card\n")
    );
    let after = (simulation.counts().lines(0), simulation.counts().head());
    assert_eq!(before, after);
}

#[test]
fn a_job_without_ranks_is_refused() {
    for (ranks, per_host) in [(0, 1), (1, 0), (2_000_000, 64)] {
        assert!(Simulation::new(ranks, per_host, false).is_err());
    }
}
