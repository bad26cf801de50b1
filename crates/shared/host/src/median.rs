/// Batches of a measurement, an odd number: one or two that something else on the core has met do not count.
const BATCHES: usize = 5;

/// The middle one of some figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    let middle = figures.len() / 2;
    *figures.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The middle one of what the batches of a measurement give, by their numbers.
pub fn of_batches(measure: impl FnMut(usize) -> f64) -> f64 {
    median((0..BATCHES).map(measure).collect())
}
