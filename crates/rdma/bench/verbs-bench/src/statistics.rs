//! Small statistics over the rounds of a run.

/// The median of `values`, the upper one of an even count; `None` when there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Where the median of what `values` were drawn from lies, with a confidence of 95 % at least: between two of them, whose ranks
/// are the binomial distribution's, so that nothing is assumed of theirs. `None` of fewer than six, which cannot tell.
pub fn median_interval(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    // The chance that at most `below` of `count` lie on one side of the median.
    let mut chance = 0.5f64.powi(i32::try_from(count).ok()?);
    let (mut tail, mut below) = (0.0, 0);
    while tail + chance <= 0.025 {
        tail += chance;
        chance *= (count - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    let low = sorted.get(below.checked_sub(1)?)?;
    Some((*low, sorted[count - below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_none() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(3.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn intervals_have_the_ranks_of_tables_of_the_sign_test() {
        let interval = |count: u32| median_interval((1..=count).rev().map(f64::from));
        assert_eq!(interval(5), None);
        assert_eq!(interval(6), Some((1.0, 6.0)));
        assert_eq!(interval(10), Some((2.0, 9.0)));
        assert_eq!(interval(20), Some((6.0, 15.0)));
        assert_eq!(interval(50), Some((18.0, 33.0)));
    }
}
