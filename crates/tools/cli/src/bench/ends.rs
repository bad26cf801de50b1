//! What grows or is kept from a benchmark's first point to others: the time of a message over requests, the rate of threads.

/// The pairs of points, a later one and the first, whose quotient is shown.
pub fn pairs(axis_label: &str, points: &[u64]) -> Vec<(u64, u64)> {
    let Some((&first, later)) = points.split_first() else {
        return Vec::new();
    };
    let shown = match axis_label {
        "requests" => later.len().saturating_sub(1),
        "threads" | "threads a rank" => 0,
        _ => later.len(),
    };
    later[shown..].iter().map(|&x| (x, first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_their_growth_and_threads_what_they_keep() {
        assert_eq!(pairs("requests", &[64, 256, 1024]), [(1024, 64)]);
        assert_eq!(pairs("threads a rank", &[1, 2, 8]), [(2, 1), (8, 1)]);
        assert_eq!(pairs("bytes", &[8, 64]), []);
        assert_eq!(pairs("requests", &[64]), []);
        assert_eq!(pairs("threads", &[]), []);
    }
}
