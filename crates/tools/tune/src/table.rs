//! Tables of measured times by algorithm, as `weft bench collectives --tune` prints them.

use weft_collective::{CHOICES, Choice};
use weft_prices::ITEMS;

/// What an operation took by each algorithm.
#[derive(Clone)]
pub struct Point {
    pub operation: &'static Choice,
    pub ranks: usize,
    /// That the ranks share; none where each has one.
    pub shared_cores: Option<usize>,
    /// Of a block, as the table has it.
    pub bytes: usize,
    pub figures: Vec<Figure>,
}

#[derive(Clone)]
pub struct Figure {
    /// Of the algorithm.
    pub number: usize,
    pub measured_ns: f64,
    /// The time of a core, or that of all together where ranks share them: what is counted.
    pub core_ns: f64,
    /// What the algorithm takes of each item.
    pub counts: [f64; ITEMS],
}

impl Point {
    /// Of measured times in us, by the numbers of algorithms among ranks of a host of so many cores; none of fewer
    /// than two.
    pub fn new(
        operation: &'static Choice,
        (ranks, cores): (usize, usize),
        bytes: usize,
        times_us: &[(usize, f64)],
    ) -> Option<Point> {
        let shared_cores = (ranks > cores).then_some(cores);
        // Tables tell the length of a block; a reduce-scatter is chosen by that of the whole vector.
        let chosen_by = match operation.operation {
            "reduce_scatter" => bytes.checked_mul(ranks)?,
            _ => bytes,
        };
        let counted = operation.counts(chosen_by, ranks, shared_cores.is_some());
        let figures = counted.into_iter().filter_map(|(number, counts)| {
            let (_, us) = times_us.iter().find(|(of, _)| *of == number)?;
            Some(Figure {
                number,
                measured_ns: us * 1e3,
                core_ns: us * 1e3 * shared_cores.unwrap_or(1) as f64,
                counts,
            })
        });
        let figures: Vec<Figure> = figures.collect();
        (figures.len() > 1).then_some(Point {
            operation,
            ranks,
            shared_cores,
            bytes,
            figures,
        })
    }

    pub fn fastest_ns(&self) -> f64 {
        let times = self.figures.iter().map(|figure| figure.measured_ns);
        times.fold(f64::INFINITY, f64::min)
    }
}

/// Most ranks of a table's, and the longest of its lengths: beyond these, counts are no longer exact.
const MOST: usize = 1 << 40;

/// A table that is read.
struct Table {
    operation: &'static Choice,
    ranks: usize,
    /// The algorithms' numbers; none where a column is no algorithm's.
    columns: Vec<Option<usize>>,
}

/// The points of all tables in a text whose ranks are of one host. What is wrong is told with its line.
pub fn read(text: &str) -> Result<Vec<Point>, String> {
    let cores = text.lines().find_map(cores);
    let cores = cores
        .ok_or("no line of the machine's with its cores, such as `AMD EPYC, 2 cores, Linux`")?;
    let (mut points, mut table) = (Vec::new(), None);
    for (number, line) in (1..).zip(text.lines()) {
        let at = |why: String| format!("line {number}: {why}");
        let mut words = line.split_whitespace();
        if let Some(title) = line.split_once(", by algorithm") {
            table = Some(begun(title.0).map_err(at)?);
        } else if let (Some(table), Some(first)) = (&mut table, words.next()) {
            if first == "bytes" {
                let known = table.operation.algorithms();
                let column = |word: &str| known.iter().position(|name| name == word);
                table.columns = words.map(column).collect();
            } else {
                let bytes = bytes(first).ok_or_else(|| at(format!("`{first}` is no length")))?;
                let times = times(&table.columns, words).map_err(at)?;
                points.extend(Point::new(
                    table.operation,
                    (table.ranks, cores),
                    bytes,
                    &times,
                ));
            }
        }
    }
    match points.is_empty() {
        true => Err(
            "no table of times by algorithm, as `weft bench collectives --tune` prints them".into(),
        ),
        false => Ok(points),
    }
}

/// `AMD EPYC, 2 cores, Linux 6.18`.
fn cores(line: &str) -> Option<usize> {
    let (before, _) = line.split_once(" cores, Linux")?;
    let cores = before.rsplit(' ').next()?.parse().ok()?;
    (1..MOST).contains(&cores).then_some(cores)
}

/// `bcast on 2 ranks`.
fn begun(title: &str) -> Result<Table, String> {
    let wrong = || format!("`{title}` is not OPERATION on RANKS ranks");
    let (name, on) = title.split_once(" on ").ok_or_else(wrong)?;
    let name = name.trim().replace('-', "_");
    let operation = CHOICES.iter().find(|choice| choice.operation == name);
    let ranks = on
        .strip_suffix(" ranks")
        .and_then(|ranks| ranks.parse().ok());
    let ranks = ranks.filter(|ranks| (2..MOST).contains(ranks));
    let (operation, ranks) = operation.zip(ranks).ok_or_else(wrong)?;
    Ok(Table {
        operation,
        ranks,
        columns: Vec::new(),
    })
}

fn times<'a>(
    columns: &[Option<usize>],
    words: impl Iterator<Item = &'a str>,
) -> Result<Vec<(usize, f64)>, String> {
    let mut times = Vec::new();
    for (column, word) in columns.iter().zip(words) {
        let (Some(number), false) = (*column, word == "-") else {
            continue;
        };
        let us = word
            .parse()
            .ok()
            .filter(|us: &f64| us.is_finite() && *us > 0.0);
        times.push((
            number,
            us.ok_or_else(|| format!("`{word}` is no time in us"))?,
        ));
    }
    Ok(times)
}

/// `64K`.
fn bytes(text: &str) -> Option<usize> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        None => (text, 0),
        Some(digits) if text.ends_with('K') => (digits, 10),
        Some(digits) if text.ends_with('M') => (digits, 20),
        Some(digits) => (digits, 30),
    };
    let bytes = digits.parse::<usize>().ok()?.checked_mul(1 << unit)?;
    (bytes <= MOST).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
A machine, 2 cores, Linux 6.1

reduce-scatter on 3 ranks, by algorithm (us, lower is better)
  bytes  chosen  direct  linear  pairwise   fastest  chosen/fastest
  8       0.104     0.5      -       2.43   direct           0.98
  4K      0.120       -      -       2.43   pairwise         1.00
";

    #[test]
    fn tables_are_read_by_their_columns() {
        let points = read(TABLE).unwrap();
        assert_eq!(points.len(), 1, "one figure is no choice");
        let point = &points[0];
        assert_eq!((point.ranks, point.bytes), (3, 8));
        let names = point.operation.algorithms();
        let figure = |figure: &Figure| (names[figure.number].clone(), figure.measured_ns);
        let figures: Vec<_> = point.figures.iter().map(figure).collect();
        assert_eq!(
            figures,
            [("direct".into(), 500.0), ("pairwise".into(), 2430.0)]
        );
        assert_eq!(point.fastest_ns(), 500.0);
        assert_eq!(
            (point.shared_cores, point.figures[0].core_ns),
            (Some(2), 1000.0)
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (from, to, why) in [
            ("2.43", "x", "line 5: `x` is no time in us"),
            ("0.5", "-1", "line 5: `-1` is no time in us"),
            ("  8 ", "  8Q ", "line 5: `8Q` is no length"),
            (
                "3 ranks",
                "1 ranks",
                "line 3: `reduce-scatter on 1 ranks` is not",
            ),
            (
                "reduce-",
                "reduced-",
                "line 3: `reduced-scatter on 3 ranks` is not",
            ),
            ("2 cores", "two cores", "no line of the machine's"),
            ("by algorithm", "by hand", "no table of times"),
        ] {
            let told = read(&TABLE.replacen(from, to, 1)).err().unwrap();
            assert!(told.starts_with(why), "{told}");
        }
    }
}
