//! Figures by how many cores do the same at once.

/// A figure for each number of cores.
pub type ByCores = Vec<(usize, f64)>;

/// The figures of 1, 2, 4 and so on of these CPUs, and of all; not of fewer than `least`.
pub fn by_cores(cpus: &[usize], least: usize, measure: impl Fn(&[usize]) -> f64) -> ByCores {
    counts(cpus.len())
        .filter(|&count| count >= least)
        .map(|count| (count, measure(&cpus[..count])))
        .collect()
}

/// Powers of two, and the number itself.
pub fn counts(all: usize) -> impl Iterator<Item = usize> {
    let powers = (0..).map(|power| 1 << power);
    powers
        .take_while(move |&count| count < all)
        .chain(std::iter::once(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cores_are_powers_of_two_and_all() {
        let all = |count| counts(count).collect::<Vec<_>>();
        assert_eq!(all(1), [1]);
        assert_eq!(all(6), [1, 2, 4, 6]);
        assert_eq!(all(16), [1, 2, 4, 8, 16]);
    }
}
