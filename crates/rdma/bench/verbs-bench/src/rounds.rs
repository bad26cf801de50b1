//! Variants of a benchmark measured in turn, so that what the machine does meanwhile falls on all of them.

use crate::account::{Counters, Resources};
use crate::party::Failure;
use crate::statistics::median;

use serde::Serialize;

/// One measurement of one variant.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    pub operations: u64,
    pub seconds: f64,
    /// Of processor time, all threads and processes that posted together.
    pub processor_seconds: f64,
    /// None on a device that does not tell.
    pub resources: Option<Resources>,
    /// Of the measured time alone.
    pub counters: Option<Counters>,
}

impl Sample {
    /// Operations a second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds
    }
}

/// The samples of one variant, a round each.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series(pub Vec<Sample>);

impl Series {
    /// The median over the rounds.
    pub fn rate(&self) -> f64 {
        median(self.0.iter().map(Sample::rate)).unwrap_or(f64::NAN)
    }

    /// Operations for each second of processor time: what rates would be if nobody else wanted the processors.
    pub fn per_processor_second(&self) -> f64 {
        let of = |s: &Sample| s.operations as f64 / s.processor_seconds;
        median(self.0.iter().map(of)).unwrap_or(f64::NAN)
    }

    pub fn resources(&self) -> Option<Resources> {
        self.0.last()?.resources
    }

    /// Of all rounds together.
    pub fn counters(&self) -> Option<Counters> {
        let mut sum = Counters::default();
        for sample in &self.0 {
            sum += sample.counters?;
        }
        Some(sum)
    }
}

/// How often and how long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub rounds: usize,
    /// At one variant, a round.
    pub seconds: f64,
}

/// Where a long run is.
pub type Progress<'a> = dyn FnMut(&str) + 'a;

/// Runs every variant once a round, the first one changing from round to round. Results stand in the order of `variants`.
pub fn in_turn<V, S: Default + Clone>(
    variants: &[V],
    rounds: usize,
    progress: &mut Progress,
    name: impl Fn(&V) -> String,
    mut run: impl FnMut(&V) -> Result<S, Failure>,
) -> Result<Vec<Vec<S>>, Failure> {
    let count = variants.len();
    let mut all = vec![Vec::with_capacity(rounds); count];
    for round in 0..rounds {
        for turn in 0..count {
            let index = (turn + round) % count;
            let variant = &variants[index];
            progress(&format!(
                "round {}/{rounds}, {}/{count}: {}",
                round + 1,
                turn + 1,
                name(variant)
            ));
            let named = |f: Failure| Failure(format!("{}: {f}", name(variant)));
            all[index].push(run(variant).map_err(named)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_its_turn_and_its_place() {
        let mut order = Vec::new();
        let variants: [&'static str; 3] = ["a", "b", "c"];
        let run = |v: &&'static str| {
            order.push(*v);
            Ok((*v).to_string())
        };
        let all = in_turn(&variants, 2, &mut |_| (), |v| (*v).into(), run).unwrap();
        assert_eq!(order, ["a", "b", "c", "b", "c", "a"]);
        assert_eq!(all[2], ["c", "c"]);
    }

    #[test]
    fn a_failure_names_its_variant() {
        let fail = |_: &&str| Err::<(), _>(Failure("no device".into()));
        let failed = in_turn(&["x"], 1, &mut |_| (), |v| (*v).into(), fail);
        assert_eq!(failed.unwrap_err().to_string(), "x: no device");
    }

    #[test]
    fn a_series_is_the_median_and_the_sum_of_its_rounds() {
        let sample = |operations| Sample {
            operations,
            seconds: 2.0,
            processor_seconds: 4.0,
            counters: Some(Counters {
                doorbells: 1,
                ..Counters::default()
            }),
            ..Sample::default()
        };
        let series = Series(vec![sample(30), sample(10), sample(20)]);
        assert!((series.rate() - 10.0).abs() < 1e-9);
        assert!((series.per_processor_second() - 5.0).abs() < 1e-9);
        assert_eq!(series.counters().unwrap().doorbells, 3);
    }
}
