/// The middle one of some figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    let middle = figures.len() / 2;
    *figures.select_nth_unstable_by(middle, f64::total_cmp).1
}
