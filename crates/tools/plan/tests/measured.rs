//! The simulation within a host, beside what was measured: the tables in `docs/results/by-algorithm`.

use std::collections::BTreeMap;

use weft_plan::{Collective, OneHost};
use weft_sim::Host;
use weft_tune::{Point, read};

const HELD: [&str; 5] = ["barrier", "bcast", "allreduce", "allgather", "alltoall"];
/// Of a rank's blocks together, or of so many messages. Beyond, what all ranks hold fits in no cache of the machine's, and its
/// memory's rate decides, which no model has.
const LONGEST: usize = 1 << 20;
const MESSAGES: usize = 8;

fn is_held(point: &&Point) -> bool {
    let bytes = match point.operation.operation {
        "allgather" | "alltoall" => point.ranks * point.bytes,
        _ => MESSAGES * point.bytes,
    };
    let is_in_all_tables = [8, 64, 512, 4 << 10, 32 << 10, 128 << 10].contains(&point.bytes);
    is_in_all_tables && HELD.contains(&point.operation.operation) && bytes <= LONGEST
}

fn tables() -> Vec<(Host, Vec<Point>)> {
    macro_rules! table {
        ($host:literal, $name:literal) => {{
            let text = include_str!(concat!(
                "../../../../docs/results/by-algorithm/",
                $name,
                "-ranks.txt"
            ));
            (Host::named($host).unwrap(), read(text).unwrap())
        }};
    }
    vec![
        table!("epyc-2", "2-cores-far-2"),
        table!("xeon-16", "16-cores-4"),
        table!("xeon-16", "16-cores-8"),
        table!("xeon-16", "16-cores-16"),
    ]
}

#[derive(Default)]
struct Ratios {
    logarithms: f64,
    within: usize,
    count: usize,
}

impl Ratios {
    fn take(&mut self, ratio: f64) {
        self.logarithms += ratio.ln();
        self.within += usize::from((2.0 / 3.0..=1.5).contains(&ratio));
        self.count += 1;
    }

    fn mean(&self) -> f64 {
        (self.logarithms / self.count as f64).exp()
    }

    fn part_within(&self) -> f64 {
        self.within as f64 / self.count as f64
    }
}

/// Simulated and measured.
struct Times {
    number: usize,
    ns: f64,
    measured_ns: f64,
}

fn times(host: &Host, point: &Point) -> Vec<Times> {
    let collective: Collective = point.operation.operation.parse().unwrap();
    let plan = OneHost::new(collective, point.ranks, point.bytes as u64).unwrap();
    let figures = point.figures.iter();
    figures
        .map(|figure| Times {
            number: figure.number,
            ns: plan.simulate(host, figure.number, 1).ns,
            measured_ns: figure.measured_ns,
        })
        .collect()
}

/// Chains and binomial trees of the same root follow each other closer here than they do; of linear broadcasts of long
/// messages the transport may do better than by the kernel; what Bruck's algorithm copies of its own leaves the caches.
const BEYOND: [(&str, &str); 5] = [
    ("bcast", "chain"),
    ("bcast", "binomial"),
    ("bcast", "linear"),
    ("allgather", "bruck"),
    ("alltoall", "bruck"),
];

#[test]
fn what_is_simulated_takes_as_long_as_was_measured() {
    let mut by_algorithm: BTreeMap<(&str, String), Ratios> = BTreeMap::new();
    let (mut fastest, mut chosen) = (Ratios::default(), Ratios::default());
    for (host, points) in tables() {
        for point in points.iter().filter(is_held) {
            let (name, names) = (point.operation.operation, point.operation.algorithms());
            let times = times(&host, point);
            for one in &times {
                let ratio = one.ns / one.measured_ns;
                let algorithm = names[one.number].clone();
                println!(
                    "{name} {} x {}: {algorithm} {ratio:.2}",
                    point.ranks, point.bytes
                );
                by_algorithm
                    .entry((name, algorithm))
                    .or_default()
                    .take(ratio);
            }
            let least = |of: fn(&Times) -> f64| {
                times
                    .iter()
                    .min_by(|one, other| of(one).total_cmp(&of(other)))
            };
            let best = least(|one| one.measured_ns).unwrap();
            fastest.take(best.ns / best.measured_ns);
            let simulated = least(|one| one.ns).unwrap();
            chosen.take(simulated.measured_ns / best.measured_ns);
        }
    }
    for ((name, algorithm), ratios) in &by_algorithm {
        let (mean, part) = (ratios.mean(), ratios.part_within());
        println!("{name} {algorithm}: {mean:.2}, {part:.2} within");
        let is_beyond = BEYOND.contains(&(name, algorithm));
        assert!(
            is_beyond || (0.7..1.4).contains(&mean),
            "{name} {algorithm}: {mean}"
        );
        assert!(is_beyond || part >= 0.75, "{name} {algorithm}: {part}");
    }
    println!(
        "the fastest: {:.2} within {:.2}",
        fastest.mean(),
        fastest.part_within()
    );
    println!("the simulated best: {:.3} of the fastest", chosen.mean());
}
