//! `patterns`: the operations by which users compare MPI libraries, measured as IMB-MPI1 and the OSU benchmarks do by default.

use super::benchmark::{Axis, Benchmark, Series, series};
use super::library::Pin;
use super::options::PatternOptions;
use super::stats::binary;

const fn operation(name: &'static str, about: &'static str) -> Series {
    series(name, "us", about)
}

pub const PATTERNS: Benchmark = Benchmark {
    name: "patterns",
    about: "the patterns of IMB-MPI1 and OSU, timed as they are: few calls, nothing pinned by us; --ranks N for other than two ranks",
    axis: Axis::Points {
        option: "sizes",
        defaults: &[
            0,
            4,
            8,
            16,
            32,
            64,
            128,
            256,
            512,
            1 << 10,
            2 << 10,
            4 << 10,
            8 << 10,
            16 << 10,
            32 << 10,
            64 << 10,
            128 << 10,
            256 << 10,
            512 << 10,
            1 << 20,
            2 << 20,
            4 << 20,
        ],
    },
    axis_label: "bytes",
    series: &[
        operation("PingPong", "half round trip, all pairs at once"),
        operation("PingPing", "both of a pair send, all pairs at once"),
        operation("Uniband", "a message of a window of 64, all pairs at once"),
        operation("Biband", "a message each way of windows of 64"),
        operation("Sendrecv", "to the next rank, from the one before"),
        operation("Exchange", "with the next rank and the one before"),
        Series {
            sizeless: true,
            ..operation("Barrier", "MPI_Barrier")
        },
        operation("Bcast", "MPI_Bcast"),
        operation("Reduce", "MPI_Reduce, sum of float"),
        operation(
            "Reduce_scatter",
            "MPI_Reduce_scatter, sum of float, a share to each rank",
        ),
        operation("Allreduce", "MPI_Allreduce, sum of float"),
        operation("Allgather", "MPI_Allgather"),
        operation("Allgatherv", "MPI_Allgatherv"),
        operation("Gather", "MPI_Gather"),
        operation("Gatherv", "MPI_Gatherv"),
        operation("Scatter", "MPI_Scatter"),
        operation("Scatterv", "MPI_Scatterv"),
        operation("Alltoall", "MPI_Alltoall"),
        operation("Alltoallv", "MPI_Alltoallv"),
    ],
    seconds: 0.05,
    any_ranks: true,
    pin: Pin::Default,
    summary: true,
    by_series: true,
    ..Benchmark::PLAIN
};

impl PatternOptions {
    fn is_any(&self) -> bool {
        !self.operations.is_empty()
            || self.off_cache.is_some()
            || self.offset.is_some()
            || self.first_use
            || self.with_barrier
    }
}

/// The series of a benchmark that are asked for.
pub fn chosen(
    options: &PatternOptions,
    benchmark: &'static Benchmark,
) -> Result<Vec<&'static Series>, String> {
    if options.is_any() && *benchmark != PATTERNS {
        return Err(format!(
            "{}: --operations, --off-cache, --offset, --first-use and --with-barrier go with `patterns` alone",
            benchmark.name
        ));
    }
    let is_asked = |s: &Series, name: &String| s.name.eq_ignore_ascii_case(name);
    let known = |name: &&String| !benchmark.series.iter().any(|s| is_asked(s, name));
    if let Some(name) = options.operations.iter().find(known) {
        let all: Vec<&str> = benchmark.series.iter().map(|s| s.name).collect();
        return Err(format!(
            "no operation `{name}`; there are {}",
            all.join(", ")
        ));
    }
    let series = benchmark.series.iter();
    let is_wanted = |s: &&Series| {
        options.operations.is_empty() || options.operations.iter().any(|name| is_asked(s, name))
    };
    Ok(series.filter(is_wanted).collect())
}

/// What the program is told of them.
pub fn arguments(options: &PatternOptions) -> Vec<String> {
    let mut all = Vec::new();
    if !options.operations.is_empty() {
        all.extend(["--operations".into(), options.operations.join(",")]);
    }
    let numbers = [
        ("--off-cache", options.off_cache),
        ("--offset", options.offset),
    ];
    for (option, number) in numbers {
        all.extend(
            number
                .into_iter()
                .flat_map(|n| [option.into(), n.to_string()]),
        );
    }
    let flags = [
        ("--first-use", options.first_use),
        ("--with-barrier", options.with_barrier),
    ];
    all.extend(flags.into_iter().filter(|f| f.1).map(|f| f.0.to_string()));
    all
}

/// How buffers and communicators are used, in words.
pub fn ways(options: &PatternOptions) -> Vec<String> {
    let turns = |n| format!("calls take turns through {} of buffers", binary(n));
    let buffers = options
        .off_cache
        .map_or("one buffer each way".into(), turns);
    let offset = options.offset.map(|n| format!("{n} bytes behind a page"));
    let warm = if options.first_use {
        "first use, one call a point"
    } else {
        "warmed up by a tenth of the calls"
    };
    let barrier = options
        .with_barrier
        .then(|| "collectives with the barrier after each".into());
    [buffers]
        .into_iter()
        .chain(offset)
        .chain([warm.into()])
        .chain(barrier)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalog::find;

    #[test]
    fn operations_are_found_in_any_case_and_others_are_named() {
        let asked = |names: &[&str]| PatternOptions {
            operations: names.iter().map(|n| n.to_string()).collect(),
            ..PatternOptions::default()
        };
        let patterns = find("patterns").unwrap();
        let found = chosen(&asked(&["pingPong", "BCAST"]), patterns).unwrap();
        let names: Vec<&str> = found.iter().map(|s| s.name).collect();
        assert_eq!(names, ["PingPong", "Bcast"]);
        let error = chosen(&asked(&["Pingpong", "Pong"]), patterns).unwrap_err();
        assert!(
            error.contains("`Pong`") && error.contains("Alltoallv"),
            "{error}"
        );
        let everything = chosen(&PatternOptions::default(), patterns).unwrap();
        assert_eq!(everything.len(), patterns.series.len());
    }

    #[test]
    fn its_options_go_to_it_alone() {
        let first = PatternOptions {
            first_use: true,
            offset: Some(1),
            off_cache: Some(64 << 20),
            with_barrier: true,
            ..PatternOptions::default()
        };
        assert!(chosen(&first, find("pingpong").unwrap()).is_err());
        assert!(chosen(&first, find("patterns").unwrap()).is_ok());
        let words = arguments(&first).join(" ");
        let expected = "--off-cache 67108864 --offset 1 --first-use --with-barrier";
        assert_eq!(words, expected);
        let said = ways(&first).join("; ");
        let parts = ["through 64M", "first use", "with the barrier"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
}
