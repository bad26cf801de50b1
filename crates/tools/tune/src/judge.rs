//! How good the choices are that prices make.

use std::fmt;

use weft_prices::Prices;

use crate::table::{Figure, Point};

/// What is chosen at a point, and what would be fastest there.
pub struct Judged<'a> {
    pub point: &'a Point,
    pub chosen: &'a Figure,
    pub fastest: &'a Figure,
}

impl Judged<'_> {
    /// How many times as long as the fastest what is chosen takes.
    pub fn ratio(&self) -> f64 {
        self.chosen.measured_ns / self.fastest.measured_ns
    }
}

impl fmt::Display for Judged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.point.operation.algorithms();
        write!(
            f,
            "{} of {} bytes, {} ranks: {} takes {:.2} of {}",
            self.point.operation.operation,
            self.point.bytes,
            self.point.ranks,
            names[self.chosen.number],
            self.ratio(),
            names[self.fastest.number]
        )
    }
}

pub fn judge<'a>(points: &'a [Point], prices: &Prices) -> Vec<Judged<'a>> {
    let least = |point: &'a Point, cost: &dyn Fn(&Figure) -> f64| {
        let figures = point.figures.iter();
        figures
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
            .expect("a point has figures")
    };
    let judged = points.iter().map(|point| Judged {
        point,
        chosen: least(point, &|figure| prices.of(&figure.counts)),
        fastest: least(point, &|figure| figure.measured_ns),
    });
    judged.collect()
}

/// The ratios of many points.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Their geometric mean.
    pub mean: f64,
    pub most: f64,
}

pub fn summary(judged: &[Judged]) -> Summary {
    let logs: f64 = judged.iter().map(|one| one.ratio().ln()).sum();
    Summary {
        mean: (logs / judged.len().max(1) as f64).exp(),
        most: judged.iter().map(Judged::ratio).fold(1.0, f64::max),
    }
}
