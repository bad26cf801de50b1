//! Everything at once, in an order that a seed chooses: datagrams are lost, doubled and reordered, processes leave and die, queue pairs
//! fail. The adapters count; at the end everybody reaches everybody, and then nothing is left.

use proptest::prelude::*;

use super::world::{World, host_of, process};
use crate::xrc::{Event, Host, Process};

const HOSTS: u64 = 3;
const PROCESSES: u64 = 3;

/// What may happen, as often as it stands here.
#[derive(Clone, Copy, Debug)]
enum Step {
    Connect,
    Disconnect,
    Deliver,
    Lose,
    Double,
    Tick,
    Fail,
    Leave,
    Kill,
    Tell,
}

const STEPS: [(u32, Step); 10] = [
    (24, Step::Connect),
    (6, Step::Disconnect),
    (60, Step::Deliver),
    (10, Step::Lose),
    (6, Step::Double),
    (10, Step::Tick),
    (2, Step::Fail),
    (1, Step::Leave),
    (1, Step::Kill),
    (3, Step::Tell),
];

struct Run {
    world: World,
    left: Vec<Process>,
    killed: Vec<Process>,
}

/// Three numbers that choose what a step is about.
type Choice = (u32, u16, u16);

impl Run {
    fn step(&mut self, (what, first, second): Choice) {
        let (first, second) = (u64::from(first), u64::from(second));
        let some = |n: u64| process(n % HOSTS, n / HOSTS % PROCESSES);
        let (from, to) = (some(first), some(second));
        let world = &mut self.world;
        let under_way = world.network.len();
        let place = (first as usize).checked_rem(under_way);
        match (step(what), place) {
            (Step::Connect, _) if host_of(from) != host_of(to) => world.connect(from, to),
            (Step::Disconnect, _) => world.disconnect(from, to),
            (Step::Deliver, Some(place)) => world.deliver(place),
            (Step::Lose, Some(place)) => drop(world.network.swap_remove(place)),
            (Step::Double, Some(place)) => world.network.push(world.network[place].clone()),
            (Step::Tick, _) => drop(world.tick()),
            (Step::Fail, _) if host_of(from) != host_of(to) => world.send_failed(from, host_of(to)),
            (Step::Leave, _) if !self.killed.contains(&from) => {
                world.leave(from);
                self.left.push(from);
            }
            (Step::Kill, _) => {
                world.kill(from);
                self.killed.push(from);
            }
            (Step::Tell, _) => {
                if let Some(&killed) = self.killed.get(first as usize % HOSTS as usize) {
                    world.lost(to, killed);
                }
            }
            _ => {}
        }
    }

    fn stayed(&self) -> Vec<Process> {
        let all = self.world.processes.keys().copied();
        all.filter(|process| !self.left.contains(process)).collect()
    }

    /// All hear who has died; those that left have time to.
    fn end_losses(&mut self) {
        let alive: Vec<Process> = self.world.processes.keys().copied().collect();
        for &process in &alive {
            for &killed in &self.killed {
                self.world.lost(process, killed);
            }
        }
        self.world.settle();
        for &process in &self.left {
            self.world.kill(process);
        }
        for process in self.stayed() {
            for &left in &self.left {
                self.world.lost(process, left);
            }
        }
        self.world.settle();
    }

    /// Those that stayed connect until all are connected. A way that has ended takes peers down once more.
    fn connect_all(&mut self) {
        let stayed = self.stayed();
        for _ in 0..3 {
            for (from, to) in pairs(&stayed) {
                self.world.connect(from, to);
            }
            self.world.settle();
        }
        for (from, to) in pairs(&stayed) {
            assert!(self.world.is_connected(from, to), "{from:?} {to:?}");
            assert!(self.world.reaches(from, to), "{from:?} {to:?}");
        }
    }

    /// A send queue pair for each process and other host, a receive queue pair for each process of other hosts.
    fn count(&self) {
        let stayed = self.stayed();
        let on = |host: u64| stayed.iter().filter(|p| host_of(**p) == Host(host)).count();
        for host in 0..HOSTS {
            let others: Vec<usize> = (0..HOSTS).filter(|h| *h != host).map(on).collect();
            let hosts = others.iter().filter(|count| **count > 0).count();
            let receives = if on(host) > 0 { others.iter().sum() } else { 0 };
            assert_eq!(self.world.queue_pairs(host), (on(host) * hosts, receives));
        }
    }

    fn leave_all(&mut self) {
        for process in self.stayed() {
            self.world.leave(process);
        }
        self.world.settle();
        assert!(
            self.world
                .processes
                .values()
                .all(|process| process.has_left())
        );
        for host in 0..HOSTS {
            assert_eq!(self.world.queue_pairs(host), (0, 0));
        }
    }
}

fn step(what: u32) -> Step {
    let sum: u32 = STEPS.iter().map(|(weight, _)| weight).sum();
    let mut rest = what % sum;
    let found = STEPS.iter().find(|(weight, _)| {
        let is_it = rest < *weight;
        rest = rest.saturating_sub(*weight);
        is_it
    });
    found.expect("the weights are what is chosen from").1
}

fn pairs(processes: &[Process]) -> impl Iterator<Item = (Process, Process)> {
    let of = |&from: &Process| processes.iter().map(move |&to| (from, to));
    let all = processes.iter().flat_map(of);
    all.filter(|(from, to)| host_of(*from) != host_of(*to))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_made_twice_and_nothing_is_left(
        choices in prop::collection::vec(any::<Choice>(), 0..400),
    ) {
        let mut run = Run {
            world: World::new(HOSTS, PROCESSES),
            left: Vec::new(),
            killed: Vec::new(),
        };
        for choice in choices {
            run.step(choice);
        }
        run.end_losses();
        run.connect_all();
        run.count();
        run.leave_all();
    }

    /// While nobody dies and requests are asked often enough, everybody who was asked for is connected.
    #[test]
    fn what_is_lost_is_sent_again(
        lost in prop::collection::vec(any::<bool>(), 0..300),
        connects in prop::collection::vec((any::<u16>(), any::<u16>()), 1..30),
    ) {
        let mut world = World::new(HOSTS, PROCESSES);
        let some = |n: u16| process(u64::from(n) % HOSTS, u64::from(n) / HOSTS % PROCESSES);
        let asked = connects.into_iter().map(|(from, to)| (some(from), some(to)));
        let asked: Vec<_> = asked.filter(|(from, to)| host_of(*from) != host_of(*to)).collect();
        for &(from, to) in &asked {
            world.connect(from, to);
        }
        // At most one of two is lost, so that each request comes through before it is given up.
        for pair in lost.chunks(2) {
            if !world.network.is_empty() {
                if pair[0] {
                    world.network.remove(0);
                } else {
                    world.deliver(0);
                }
            }
        }
        world.settle();
        for (from, to) in asked {
            prop_assert!(world.reaches(from, to));
        }
        let failed = world.events.iter().any(|(_, event)| matches!(event, Event::Failed { .. }));
        prop_assert!(!failed);
    }
}
