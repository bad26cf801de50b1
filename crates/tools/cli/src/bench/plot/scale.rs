//! An axis of a plot.

/// One axis: from a value to a position between two ends.
pub struct Scale {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
    pub logarithmic: bool,
}

impl Scale {
    pub fn at(&self, value: f64) -> f64 {
        let place = |v: f64| if self.logarithmic { v.ln() } else { v };
        let (low, high) = (place(self.low), place(self.high));
        let part = if high > low {
            (place(value) - low) / (high - low)
        } else {
            0.5
        };
        self.from + part * (self.to - self.from)
    }

    /// 1, 2, 5 of each decade, or the decades alone when there are many; tenths of a linear axis.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic {
            return (0..=5)
                .map(|i| self.low + (self.high - self.low) * f64::from(i) / 5.0)
                .collect();
        }
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = if decades > 3.0 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let all = (first..=last).flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
        all.filter(|t| *t >= self.low * 0.999 && *t <= self.high * 1.001)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_maps_its_ends_and_marks_round_numbers() {
        let scale = Scale {
            low: 10.0,
            high: 1000.0,
            from: 0.0,
            to: 100.0,
            logarithmic: true,
        };
        assert!((scale.at(10.0), scale.at(1000.0)) == (0.0, 100.0));
        assert!((scale.at(100.0) - 50.0).abs() < 1e-9);
        let ticks: Vec<u64> = scale.ticks().iter().map(|t| t.round() as u64).collect();
        assert_eq!(ticks, [10, 20, 50, 100, 200, 500, 1000]);
        let flat = Scale {
            low: 5.0,
            high: 5.0,
            from: 0.0,
            to: 100.0,
            logarithmic: true,
        };
        assert!(flat.at(5.0) == 50.0);
    }
}
