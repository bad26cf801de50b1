//! What is chosen, beside what was measured: the tables in `docs/results/by-algorithm`, as `weft bench collectives --tune` prints them.

use super::{CHOICES, Call, Sharing};

/// What an operation took by each algorithm, in us.
struct Point {
    operation: &'static super::Choice,
    call: Call,
    /// By the algorithms' numbers.
    figures: Vec<(usize, f64)>,
}

impl Point {
    /// How many times as long as the fastest what is chosen takes.
    fn ratio(&self) -> f64 {
        let chosen = (self.operation.chosen)(self.call);
        let (_, fastest) = self.fastest();
        let own = self.figures.iter().find(|(number, _)| *number == chosen);
        own.expect("all that can run were measured").1 / fastest
    }

    fn fastest(&self) -> (usize, f64) {
        let least = self.figures.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        *least.expect("there are algorithms")
    }
}

fn bytes_of(text: &str) -> Option<usize> {
    let (digits, unit) = match text.strip_suffix(['K', 'M']) {
        None => (text, 1),
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) => (digits, 1 << 20),
    };
    Some(digits.parse::<usize>().ok()? * unit)
}

/// The points of a table of so many ranks.
fn points(table: &str, ranks: usize, call: Call) -> Vec<Point> {
    let mut points = Vec::new();
    let mut operation = None;
    let mut columns = Vec::new();
    for line in table.lines() {
        if let Some((name, _)) = line.split_once(" on ")
            && line.contains("by algorithm")
        {
            let name = name.replace('-', "_");
            operation = CHOICES.iter().find(|choice| choice.operation == name);
            continue;
        }
        let (Some(operation), mut words) = (operation, line.split_whitespace()) else {
            continue;
        };
        let Some(first) = words.next() else { continue };
        let known = operation.algorithms();
        if first == "bytes" {
            let number = |word: &str| known.iter().position(|name| name == word);
            columns = words.map(number).collect();
            continue;
        }
        let figures = columns.iter().zip(words);
        let figures = figures.filter_map(|(number, word)| Some(((*number)?, word.parse().ok()?)));
        let figures: Vec<_> = figures.collect();
        let Some(bytes) = bytes_of(first).filter(|_| figures.len() > 1) else {
            continue;
        };
        // A table's lengths are those of a block; a reduce-scatter is chosen by those of the whole vector.
        let bytes = match operation.operation {
            "reduce_scatter" => bytes * ranks,
            _ => bytes,
        };
        points.push(Point {
            operation,
            call: Call {
                bytes,
                ranks,
                ..call
            },
            figures,
        });
    }
    points
}

fn kind(oversubscribed: bool, are_near: bool) -> Call {
    Call {
        bytes: 0,
        ranks: 0,
        oversubscribed,
        sharing: Sharing::Everything,
        are_near,
        placement: None,
    }
}

/// The geometric mean of the ratios, and the greatest; what is far from the fastest is printed.
fn ratios(points: &[Point]) -> (f64, f64) {
    let mut product = 0.0;
    let mut greatest: f64 = 0.0;
    for point in points {
        let ratio = point.ratio();
        product += ratio.ln();
        greatest = greatest.max(ratio);
        if ratio > 1.3 {
            let names = point.operation.algorithms();
            let (fastest, _) = point.fastest();
            println!(
                "{} ranks, {} of {} bytes: {} takes {ratio:.2} of {}",
                point.call.ranks,
                point.operation.operation,
                point.call.bytes,
                names[(point.operation.chosen)(point.call)],
                names[fastest]
            );
        }
    }
    ((product / points.len() as f64).exp(), greatest)
}

macro_rules! table {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../../../docs/results/by-algorithm/",
            $name,
            "-ranks.txt"
        ))
    };
}

/// Where no choice was ever made by these figures a guess would take some 1.7 of the time of the fastest.
#[test]
fn what_is_chosen_is_the_fastest_or_near_it() {
    let (far, near, shared) = (kind(false, false), kind(false, true), kind(true, true));
    let far = [
        points(table!("16-cores-4"), 4, far),
        points(table!("16-cores-8"), 8, far),
        points(table!("16-cores-16"), 16, far),
    ];
    let shared = [
        points(table!("2-cores-4"), 4, shared),
        points(table!("2-cores-8"), 8, shared),
        points(table!("2-cores-16"), 16, shared),
    ];
    let far_pair = [
        points(table!("2-cores-far-2"), 2, kind(false, false)),
        points(table!("2-cores-far-2-again"), 2, kind(false, false)),
    ];
    let near = [
        points(table!("2-cores-2"), 2, near),
        points(table!("2-cores-2-again"), 2, near),
    ];
    for (points, count, mean, most) in [
        (
            far.into_iter().flatten().collect::<Vec<_>>(),
            300,
            1.06,
            2.4,
        ),
        (far_pair.into_iter().flatten().collect(), 236, 1.05, 1.7),
        (near.into_iter().flatten().collect(), 155, 1.02, 1.5),
        (shared.into_iter().flatten().collect(), 192, 1.07, 3.0),
    ] {
        assert_eq!(points.len(), count);
        let (found, greatest) = ratios(&points);
        println!("mean {found:.3}, at most {greatest:.2}");
        assert!(found < mean && greatest < most, "{found}, {greatest}");
    }
}
