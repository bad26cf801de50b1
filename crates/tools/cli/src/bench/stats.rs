//! Small statistics over the rounds of a run.

/// The median of `values`, the upper one of an even count; `None` when there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Rounds drawn with repetition, many times: the same draws for whoever asks for as many.
pub struct Draws(Vec<Vec<usize>>);

impl Draws {
    pub fn new(times: usize, rounds: usize) -> Draws {
        // splitmix64.
        let mut state = 0u64;
        let mut random = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let mut draw = || {
            (0..rounds)
                .map(|_| (random() % rounds as u64) as usize)
                .collect()
        };
        Draws((0..times).map(|_| draw()).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.0.iter().map(Vec::as_slice)
    }
}

/// Three significant digits, as a person reads a measurement: `0.355`, `12.3`, `4810`.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let whole_digits = value.abs().log10().floor() as i32 + 1;
    if whole_digits >= 3 {
        return format!("{value:.0}");
    }
    let decimals = (3 - whole_digits).min(6) as usize;
    format!("{value:.decimals$}")
}

/// A size or count with binary suffixes: `8`, `64K`, `1M`.
pub fn binary(value: u64) -> String {
    const K: u64 = 1 << 10;
    const M: u64 = 1 << 20;
    match value {
        0 => "0".into(),
        v if v.is_multiple_of(M) => format!("{}M", v / M),
        v if v.is_multiple_of(K) => format!("{}K", v / K),
        v => v.to_string(),
    }
}

/// Reads what [`binary`] writes.
pub fn parse_binary(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim().as_bytes() {
        [head @ .., b'K' | b'k'] => (head, 10),
        [head @ .., b'M' | b'm'] => (head, 20),
        all => (all, 0),
    };
    std::str::from_utf8(digits)
        .ok()
        .and_then(|d| d.parse::<u64>().ok())
        .and_then(|d| d.checked_mul(1 << shift))
        .ok_or_else(|| format!("`{text}` is no number such as 8, 64K or 4M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_none() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn each_round_is_drawn_about_as_often_as_another() {
        let draws = Draws::new(1000, 4);
        let count = |round| draws.iter().flatten().filter(|&&r| r == round).count();
        for round in 0..4 {
            assert!((900..1100).contains(&count(round)), "{}", count(round));
        }
        assert_eq!(
            Draws::new(2, 0).iter().map(<[usize]>::len).sum::<usize>(),
            0
        );
    }

    #[test]
    fn three_digits_at_every_magnitude() {
        let written = [0.35512, 1.0, 12.34, 123.4, 48101.0, 0.000123, 0.0].map(three_digits);
        assert_eq!(
            written,
            ["0.355", "1.00", "12.3", "123", "48101", "0.000123", "0"]
        );
    }

    #[test]
    fn binary_numbers_round_trip() {
        for value in [0, 1, 8, 1000, 1024, 65536, 1 << 20, 3 << 20] {
            assert_eq!(parse_binary(&binary(value)), Ok(value));
        }
        assert_eq!(parse_binary("4m"), Ok(4 << 20));
        for bad in ["", "K", "-1", "1G", "1.5K", "99999999999999999999M"] {
            assert!(parse_binary(bad).is_err(), "{bad}");
        }
    }
}
