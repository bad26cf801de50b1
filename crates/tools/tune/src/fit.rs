//! The search for prices: down the slopes of a loss in which choices are soft and become sharper, then by steps at
//! random that make the loss less in which they are sharp. The same in every run.

use weft_prices::{ITEMS, Named, Prices};

use crate::loss::{Logs, Loss, logs};
use crate::random::Random;
use crate::table::Point;

/// Prices of no machine's, to begin with where none are known: what processors of our day take, to a power of ten.
pub const PLAIN: Prices = Named {
    round: 500.0,
    step: 500.0,
    message: 50.0,
    packet_byte: 0.1,
    exchanged_packet_byte: 0.1,
    passed_packet_byte: 0.1,
    long: 500.0,
    long_byte: 0.1,
    exchanged_long_byte: 0.1,
    passed_long_byte: 0.1,
    call: 500.0,
    call_byte: 0.1,
    contended_byte: 0.1,
    post: 50.0,
    posted_byte: 0.1,
    look: 50.0,
    looked_byte: 0.1,
    folded_byte: 0.1,
    combined_byte: 0.1,
    packed_byte: 0.1,
    round_turn: 1000.0,
    step_turn: 1000.0,
}
.prices();

/// How sharp choices are, by the logarithms of costs, one after the other.
const SHARPNESS: [f64; 3] = [2.0, 6.0, 18.0];
/// Steps down for each, and how far the first goes, in logarithms of prices.
const STEPS: u32 = 200;
const STEP: f64 = 0.03;
/// Steps at random, and how far they go.
const TRIES: u32 = 1500;
const FARTHEST_TRY: f64 = 0.5;

/// The prices by which what is chosen at the points takes least time, found from these, which are kept where no point
/// tells otherwise and make no worse choices. Three digits each.
pub fn fit(points: &[Point], start: &Prices) -> Prices {
    let loss = |sharpness| Loss {
        points,
        start,
        sharpness,
    };
    let soft = SHARPNESS.into_iter().map(loss);
    let descended = soft.fold(logs(start), |at, loss| descend(&loss, at));
    let sharp = loss(f64::INFINITY);
    let best = match sharp.at(&descended).0 < sharp.at(&logs(start)).0 {
        true => descended,
        false => logs(start),
    };
    let best = sharp.prices(&try_around(&sharp, best));
    let figures = || points.iter().flat_map(|point| &point.figures);
    let is_told_of = |item: usize| figures().any(|figure| figure.counts[item] > 0.0);
    Prices(std::array::from_fn(|item| match is_told_of(item) {
        true => three_digits(best.0[item]),
        false => start.0[item],
    }))
}

/// By Adam (Kingma and Ba 2015), with its authors' constants and steps that become shorter.
fn descend(loss: &Loss, mut at: Logs) -> Logs {
    const MEAN: f64 = 0.9;
    const SQUARE: f64 = 0.999;
    let (mut means, mut squares) = ([0.0; ITEMS], [0.0; ITEMS]);
    let (mut begun_mean, mut begun_square) = (1.0, 1.0);
    for step in 0..STEPS {
        let (_, slopes) = loss.at(&at);
        begun_mean *= MEAN;
        begun_square *= SQUARE;
        let length = STEP * (1.0 - f64::from(step) / f64::from(STEPS));
        for (item, slope) in slopes.into_iter().enumerate() {
            means[item] += (1.0 - MEAN) * (slope - means[item]);
            squares[item] += (1.0 - SQUARE) * (slope * slope - squares[item]);
            let deviation = f64::sqrt(squares[item] / (1.0 - begun_square)) + 1e-8;
            at[item] -= length * means[item] / (1.0 - begun_mean) / deviation;
        }
    }
    at
}

/// Steps of one price, or of three together, short ones more often than long ones.
fn try_around(loss: &Loss, mut best: Logs) -> Logs {
    let mut random = Random::new(0);
    let (mut least, _) = loss.at(&best);
    for _ in 0..TRIES {
        let mut at = best;
        let length = FARTHEST_TRY * random.unit().powi(3);
        for _ in 0..1 + 2 * random.below(2) {
            at[random.below(ITEMS)] += length * random.normal();
        }
        let (found, _) = loss.at(&at);
        if found < least {
            (least, best) = (found, at);
        }
    }
    best
}

fn three_digits(price: f64) -> f64 {
    let text = format!("{price:.2e}");
    text.parse().expect("it was a number")
}
