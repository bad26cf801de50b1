//! What a benchmark is: what it measures, over what, and what its lines are called.

use super::compare::Measured;
use super::library::Pin;

/// What a benchmark is measured over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// One run measures all points, given to the program as `--OPTION LIST`.
    Points {
        option: &'static str,
        defaults: &'static [u64],
    },
    /// One run for each number of ranks.
    Ranks { defaults: &'static [u64] },
}

/// One measured quantity of a benchmark.
#[derive(Debug, PartialEq)]
pub struct Series {
    pub name: &'static str,
    pub unit: &'static str,
    pub about: &'static str,
    /// It has no size: it is measured once, at 0.
    pub sizeless: bool,
}

#[derive(Debug, PartialEq)]
pub struct Benchmark {
    pub name: &'static str,
    pub about: &'static str,
    pub axis: Axis,
    /// What the axis counts.
    pub axis_label: &'static str,
    pub series: &'static [Series],
    /// Seconds a point.
    pub seconds: f64,
    /// Cores that each rank keeps busy, at most.
    pub threads: bool,
    /// Runs on any number of ranks, not only on two. Says nothing where the axis is the ranks.
    pub any_ranks: bool,
    /// Where ranks run unless the user says.
    pub pin: Pin,
    /// Its points are so many, or so unsteady, that ratios come with intervals and are also summed up: by series, and the worst.
    pub summary: bool,
    /// The program gives all points of a series before those of the next.
    pub by_series: bool,
    /// Series whose floor is measured by the same program: each with that, itself a series.
    pub floors: &'static [(&'static str, &'static str)],
    /// The points from the largest on, since small ones take longest: a library that is stopped has given those before.
    pub descending: bool,
    /// The program makes a file, and is told in which folder (`--folder`).
    pub makes_file: bool,
}

impl Benchmark {
    /// What most benchmarks have in common; the rest each says of itself.
    pub const PLAIN: Benchmark = Benchmark {
        name: "",
        about: "",
        axis: Axis::Ranks { defaults: &[] },
        axis_label: "",
        series: &[],
        seconds: 0.0,
        threads: false,
        any_ranks: false,
        pin: Pin::Auto,
        summary: false,
        by_series: false,
        floors: &[],
        descending: false,
        makes_file: false,
    };

    pub fn default_points(&self) -> &'static [u64] {
        match self.axis {
            Axis::Points { defaults, .. } | Axis::Ranks { defaults } => defaults,
        }
    }
}

impl Series {
    /// Those of `points` at which it is measured.
    pub fn points<'a>(&self, points: &'a [u64]) -> &'a [u64] {
        if self.sizeless { &[0] } else { points }
    }

    pub fn larger_is_better(&self) -> bool {
        larger_is_better(self.unit)
    }

    pub fn measured<'a>(&'a self, points: &'a [u64]) -> Measured<'a> {
        Measured {
            name: self.name,
            larger_is_better: self.larger_is_better(),
            points: self.points(points),
        }
    }
}

/// Of rates and shares, in place of times and memory.
pub fn larger_is_better(unit: &str) -> bool {
    matches!(unit, "%") || unit.ends_with("/s")
}

pub const fn series(name: &'static str, unit: &'static str, about: &'static str) -> Series {
    Series {
        name,
        unit,
        about,
        sizeless: false,
    }
}
