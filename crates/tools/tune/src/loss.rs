//! How bad prices are: mostly by how much longer than the fastest algorithm what they choose takes; a little by how
//! far off the times are that they predict, so that lengths between the measured ones go well, too; and a trifle by
//! how far they are from where the search began, which holds prices that no figure tells of.

use weft_prices::{ITEMS, Prices};

use crate::table::Point;

/// Logarithms of prices; of those that are 0 in the beginning, which stay so, anything.
pub type Logs = [f64; ITEMS];

/// What a doubling of a time is worth in each of the three. Found by trying on the tables in `docs/results/by-
/// algorithm`: the choices count as much as possible while the predicted times stay within a factor of two.
const OF_CHOICES: f64 = 8.0;
const OF_TIMES: f64 = 1.0;
const OF_START: f64 = 0.001;
/// Beyond e^2 it does not matter how bad a choice is.
const WORST: f64 = 2.0;

pub struct Loss<'a> {
    pub points: &'a [Point],
    pub start: &'a Prices,
    /// Sharpness of the choice between two algorithms, by the logarithms of their costs; infinite, the cheapest alone
    /// is chosen.
    pub sharpness: f64,
}

pub fn logs(prices: &Prices) -> Logs {
    prices.0.map(|price| price.max(f64::MIN_POSITIVE).ln())
}

impl Loss<'_> {
    pub fn prices(&self, logs: &Logs) -> Prices {
        let price = |item: usize| match self.start.0[item] > 0.0 {
            true => logs[item].exp(),
            false => 0.0,
        };
        Prices(std::array::from_fn(price))
    }

    /// The loss, and its derivatives by the logarithms of the prices. Those of what an infinite sharpness chooses are
    /// 0.
    pub fn at(&self, logs: &Logs) -> (f64, Logs) {
        let prices = self.prices(logs);
        let (mut loss, mut slopes) = (0.0, [0.0; ITEMS]);
        let mut by_costs = Vec::new();
        for point in self.points {
            let costs = point.figures.iter();
            let costs: Vec<f64> = costs
                .map(|figure| prices.of(&figure.counts).max(1e-9))
                .collect();
            by_costs.clear();
            by_costs.resize(costs.len(), 0.0);
            loss += self.of_point(point, &costs, &mut by_costs);
            for ((figure, cost), by_cost) in point.figures.iter().zip(&costs).zip(&by_costs) {
                let factor = by_cost / cost;
                for ((slope, price), count) in slopes.iter_mut().zip(prices.0).zip(figure.counts) {
                    *slope += factor * price * count;
                }
            }
        }
        let count = self.points.len().max(1) as f64;
        for item in 0..ITEMS {
            slopes[item] /= count;
            if self.start.0[item] > 0.0 {
                let off = logs[item] - self.start.0[item].ln();
                loss += count * OF_START * off * off;
                slopes[item] += 2.0 * OF_START * off;
            }
        }
        (loss / count, slopes)
    }

    /// The loss of a point, and its derivatives by the logarithms of the costs.
    fn of_point(&self, point: &Point, costs: &[f64], by_costs: &mut [f64]) -> f64 {
        let fastest = point.fastest_ns();
        let late = |at: usize| (point.figures[at].measured_ns / fastest).ln().min(WORST);
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let weight = |cost: f64| match self.sharpness.is_finite() {
            true => (least / cost).powf(self.sharpness),
            false => f64::from(u8::from(cost == least)),
        };
        let all: f64 = costs.iter().map(|&cost| weight(cost)).sum();
        let chosen = |at: usize| weight(costs[at]) / all;
        let lateness: f64 = (0..costs.len()).map(|at| chosen(at) * late(at)).sum();
        let mut off_all = 0.0;
        let each = 1.0 / costs.len() as f64;
        for (at, by_cost) in by_costs.iter_mut().enumerate() {
            if self.sharpness.is_finite() {
                *by_cost = -OF_CHOICES * self.sharpness * chosen(at) * (late(at) - lateness);
            }
            // What is off by far counts no more than what is off by a little more than that.
            let off = (costs[at] / point.figures[at].core_ns).ln();
            let bound = 1.0 + off * off;
            off_all += each * off * off / bound;
            *by_cost += OF_TIMES * each * 2.0 * off / (bound * bound);
        }
        OF_CHOICES * lateness + OF_TIMES * off_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_collective::CHOICES;
    use weft_prices::{Group, Lists};

    #[test]
    fn slopes_are_those_of_the_loss() {
        let lists = Lists::BUILT_IN;
        let start = lists.of(Group::Far);
        let point = |bytes| {
            Point::new(
                &CHOICES[1],
                (4, 4),
                bytes,
                &[(0, 3.0), (1, 2.0), (2, 4.0), (4, 9.0)],
            )
        };
        let points: Vec<Point> = [8, 1 << 20].into_iter().filter_map(point).collect();
        let loss = Loss {
            points: &points,
            start,
            sharpness: 3.0,
        };
        let mut at = logs(start);
        at[0] += 0.3;
        let (_, slopes) = loss.at(&at);
        for item in 0..ITEMS {
            let beside = |by: f64| {
                let mut beside = at;
                beside[item] += by;
                loss.at(&beside).0
            };
            let slope = (beside(1e-5) - beside(-1e-5)) / 2e-5;
            assert!(
                (slope - slopes[item]).abs() < 1e-5,
                "{item}: {slope} {}",
                slopes[item]
            );
        }
    }
}
