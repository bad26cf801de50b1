//! `MPI_Dims_create` (MPI-5.0 §8.5.2): a number of processes as a product of numbers as close to each other as
//! possible.
//!
//! Closest is the least difference between the largest and the smallest; among several such, the first in
//! lexicographic order.

use weft_error::{Class, Result, argument};

/// Fills the zeros of `dims` so that the product of all is `nodes`, larger numbers first.
pub fn fill(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        let what = format_args!("{nodes} is not positive");
        return Err(argument(Class::Arg, "nnodes", what));
    }
    let mut given: i64 = 1;
    for (index, &extent) in dims.iter().enumerate() {
        if extent < 0 {
            let what = format_args!("[{index}]: {extent} is negative");
            return Err(argument(Class::Dims, "dims", what));
        }
        given = given.saturating_mul(i64::from(extent.max(1)));
    }
    let nodes = i64::from(nodes);
    if nodes % given != 0 {
        let what = format_args!("their product, {given}, does not divide {nodes}");
        return Err(argument(Class::Dims, "dims", what));
    }
    let free = dims.iter().filter(|extent| **extent == 0).count();
    let found = balanced((nodes / given) as u32, free);
    let places = dims.iter_mut().filter(|extent| **extent == 0);
    for (place, extent) in places.zip(found) {
        *place = extent as i32;
    }
    Ok(())
}

/// `number` as a product of `count` factors.
fn balanced(number: u32, count: usize) -> Vec<u32> {
    if count == 0 {
        return Vec::new();
    }
    let mut search = Search {
        primes: primes(number),
        divisors: divisors(number),
        chosen: Vec::new(),
        best: None,
    };
    search.choose(number, number, count);
    search.best.expect("the number itself and ones are factors")
}

/// The different primes of a number, rising.
fn primes(mut number: u32) -> Vec<u32> {
    let mut primes = Vec::new();
    let mut prime = 2;
    while prime * prime <= number {
        if number.is_multiple_of(prime) {
            primes.push(prime);
            while number.is_multiple_of(prime) {
                number /= prime;
            }
        }
        prime += 1;
    }
    if number > 1 {
        primes.push(number);
    }
    primes
}

/// All divisors of a number, rising.
fn divisors(number: u32) -> Vec<u32> {
    let pairs = (1..).take_while(|&low: &u32| low <= number / low);
    let mut all: Vec<u32> = pairs
        .filter(|&low| number.is_multiple_of(low))
        .flat_map(|low| [low, number / low])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Chooses factors from the largest to the smallest, each as small as it can be, and goes on from there.
struct Search {
    primes: Vec<u32>,
    divisors: Vec<u32>,
    chosen: Vec<u32>,
    best: Option<Vec<u32>>,
}

/// Whether `base` to the power of `exponent` is at least `number`.
fn power_reaches(base: u32, exponent: usize, number: u32) -> bool {
    let mut power = 1u64;
    for _ in 0..exponent {
        power *= u64::from(base);
        if power >= number.into() {
            return true;
        }
    }
    power >= number.into()
}

impl Search {
    fn spread(factors: &[u32]) -> u32 {
        match factors {
            [largest, .., smallest] => largest - smallest,
            _ => 0,
        }
    }

    /// Whether the best so far is at least as close as any choice that goes on with `rest` in `count` factors of
    /// at most `factor`.
    fn is_beaten(&self, rest: u32, factor: u32, count: usize) -> bool {
        let Some(best) = &self.best else {
            return false;
        };
        let largest = *self.chosen.first().unwrap_or(&factor);
        // Every factor is to be above this; the smallest is at most the mean.
        let spread = Search::spread(best);
        let Some(least) = (largest + 1).checked_sub(spread) else {
            return false;
        };
        !power_reaches_not_above(least, count, rest)
    }

    /// The factors of `rest`, `count` of them, none above `limit`.
    fn choose(&mut self, rest: u32, limit: u32, count: usize) {
        if count == 1 {
            if rest <= limit {
                self.chosen.push(rest);
                self.keep();
                self.chosen.pop();
            }
            return;
        }
        // The largest factor of the rest holds its largest prime, and is no less than the mean.
        let primes = self.primes.iter().rev();
        let prime = primes.copied().find(|&prime| rest.is_multiple_of(prime));
        let prime = prime.unwrap_or(1);
        let from = self.divisors.partition_point(|&divisor| divisor < prime);
        for index in from..self.divisors.len() {
            let factor = self.divisors[index];
            if factor > limit || factor > rest {
                return;
            }
            if !rest.is_multiple_of(factor) || !power_reaches(factor, count, rest) {
                continue;
            }
            if self.is_beaten(rest, factor, count) {
                return;
            }
            self.chosen.push(factor);
            self.choose(rest / factor, factor, count - 1);
            self.chosen.pop();
        }
    }

    fn keep(&mut self) {
        let closer = |best: &Vec<u32>| Search::spread(&self.chosen) < Search::spread(best);
        if self.best.as_ref().is_none_or(closer) {
            self.best = Some(self.chosen.clone());
        }
    }
}

/// Whether `count` factors of at least `least` have a product of at most `number`.
fn power_reaches_not_above(least: u32, count: usize, number: u32) -> bool {
    let mut power = 1u64;
    for _ in 0..count {
        power *= u64::from(least);
        if power > number.into() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(nodes: i32, dims: &[i32]) -> Vec<i32> {
        let mut dims = dims.to_vec();
        fill(nodes, &mut dims).unwrap();
        dims
    }

    #[test]
    fn the_standards_examples() {
        assert_eq!(filled(6, &[0, 0]), [3, 2]);
        assert_eq!(filled(7, &[0, 0]), [7, 1]);
        assert_eq!(filled(6, &[0, 3, 0]), [2, 3, 1]);
        let mut dims = [0, 3, 0];
        assert_eq!(fill(7, &mut dims).unwrap_err().class, Class::Dims);
    }

    #[test]
    fn well_known_grids() {
        assert_eq!(filled(16, &[0; 3]), [4, 2, 2]);
        assert_eq!(filled(72, &[0; 3]), [6, 4, 3]);
        assert_eq!(filled(60, &[0; 3]), [5, 4, 3]);
        assert_eq!(filled(1024, &[0; 3]), [16, 8, 8]);
        assert_eq!(filled(24, &[0; 2]), [6, 4]);
        assert_eq!(filled(1, &[0; 4]), [1; 4]);
        assert_eq!(filled(12, &[2, 3]), [2, 3], "nothing to fill");
        assert_eq!(filled(12, &[]), [0; 0]);
    }

    /// All non-increasing factorisations.
    fn all(number: u32, limit: u32, count: usize) -> Vec<Vec<u32>> {
        if count == 0 {
            return if number == 1 { vec![vec![]] } else { vec![] };
        }
        let factors = (1..=limit.min(number)).filter(|&factor| number.is_multiple_of(factor));
        factors
            .flat_map(|factor| {
                all(number / factor, factor, count - 1)
                    .into_iter()
                    .map(move |mut rest| {
                        rest.insert(0, factor);
                        rest
                    })
            })
            .collect()
    }

    #[test]
    fn as_close_as_any_factorisation() {
        for number in 1..400 {
            for count in 1..5 {
                let every = all(number, number, count);
                let closest = every
                    .into_iter()
                    .min_by_key(|factors| (Search::spread(factors), factors.clone()));
                assert_eq!(
                    balanced(number, count),
                    closest.unwrap(),
                    "{number} in {count}"
                );
            }
        }
    }

    #[test]
    fn numbers_of_many_divisors_take_no_time() {
        for (number, counts) in [
            (1_102_701_600, 2..32),
            (1 << 30, 2..32),
            (2_147_483_647, 2..32),
        ] {
            for count in counts {
                let factors = balanced(number, count);
                assert_eq!(factors.len(), count);
                assert_eq!(factors.iter().product::<u32>(), number);
                assert!(factors.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
