//! Square matrices of doubles for the global array: filled by a seed, multiplied here as a reference.

/// An element: a function of its place, with all 53 bits in use, so that any other order of summation shows.
pub fn element(seed: u64, row: usize, column: usize) -> f64 {
    let mixed = mix(seed ^ mix((row as u64) << 32 | column as u64));
    // The upper 53 bits, from -1 to 1.
    (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// splitmix64's finaliser.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Row by row.
pub fn filled(seed: u64, order: usize) -> Vec<f64> {
    let place = |i: usize| element(seed, i / order, i % order);
    (0..order * order).map(place).collect()
}

/// `c += a b` for square blocks of `order`, row by row. Each element of `c` adds its products one by one with the inner
/// index ascending: over any division into tiles, taken in ascending order too, the same sums to the last bit.
pub fn multiply_add(c: &mut [f64], a: &[f64], b: &[f64], order: usize) {
    for (c_row, a_row) in c.chunks_exact_mut(order).zip(a.chunks_exact(order)) {
        for (inner, &factor) in a_row.iter().enumerate() {
            let b_row = &b[inner * order..][..order];
            for (sum, &value) in c_row.iter_mut().zip(b_row) {
                *sum += factor * value;
            }
        }
    }
}

/// The product, by the definition: one element after the other.
pub fn product(a: &[f64], b: &[f64], order: usize) -> Vec<f64> {
    let element = |i: usize| {
        let (row, column) = (i / order, i % order);
        let products = (0..order).map(|k| a[row * order + k] * b[k * order + column]);
        products.fold(0.0, |sum, product| sum + product)
    };
    (0..order * order).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_give_the_same_bits_as_the_definition() {
        let (order, tile) = (24, 8);
        let (a, b) = (filled(1, order), filled(2, order));
        let cut = |m: &[f64], row: usize, column: usize| -> Vec<f64> {
            let rows = (0..tile).map(|r| &m[(row * tile + r) * order + column * tile..][..tile]);
            rows.flatten().copied().collect()
        };
        let expected = product(&a, &b, order);
        for row in 0..order / tile {
            for column in 0..order / tile {
                let mut c = vec![0.0; tile * tile];
                for k in 0..order / tile {
                    multiply_add(&mut c, &cut(&a, row, k), &cut(&b, k, column), tile);
                }
                let bits = |m: Vec<f64>| m.into_iter().map(f64::to_bits).collect::<Vec<_>>();
                assert_eq!(bits(c), bits(cut(&expected, row, column)));
            }
        }
    }

    #[test]
    fn another_order_of_summation_would_show() {
        let order = 24;
        let (a, b) = (filled(1, order), filled(2, order));
        let forwards = product(&a, &b, order);
        let mut differ = 0;
        for (i, &expected) in forwards.iter().enumerate() {
            let (row, column) = (i / order, i % order);
            let products = (0..order)
                .rev()
                .map(|k| a[row * order + k] * b[k * order + column]);
            differ +=
                usize::from(products.fold(0.0, |s: f64, p| s + p).to_bits() != expected.to_bits());
        }
        assert!(differ > order * order / 4, "{differ}");
    }

    #[test]
    fn elements_fill_their_range() {
        let all = filled(7, 100);
        assert!(all.iter().all(|v| (-1.0..1.0).contains(v)));
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!(mean.abs() < 0.05, "{mean}");
    }
}
