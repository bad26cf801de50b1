//! What a benchmark found, ready to be printed, plotted, or read by machines.

use serde::Serialize;
use serde_json::Value;

/// One benchmark's results.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub name: &'static str,
    /// The device, and where threads ran.
    pub notes: Vec<String>,
    pub tables: Vec<Table>,
    pub panels: Vec<Panel>,
    /// Everything measured: one object a point, with all rounds.
    pub points: Vec<Value>,
}

/// Text in columns; the first one names the row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Lines over a common axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Panel {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub curves: Vec<Curve>,
}

/// A name and its points.
pub type Curve = (String, Vec<(u64, f64)>);

impl Table {
    pub fn new(title: impl Into<String>, header: &[&str]) -> Table {
        Table {
            title: title.into(),
            header: header.iter().map(|&h| h.into()).collect(),
            rows: Vec::new(),
        }
    }
}

/// A rate as tables show it.
pub fn millions(rate: f64) -> String {
    digits(rate / 1e6)
}

/// Three significant digits: `0.355`, `12.3`, `4810`.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    let decimals = (3 - whole).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

/// A part of a whole: `31.25 %` where that is exact, else three digits; `-` of nothing.
pub fn percent(part: f64, whole: f64) -> String {
    if whole == 0.0 {
        return "-".into();
    }
    let value = 100.0 * part / whole;
    if value.fract() != 0.0 && (value * 100.0).fract() == 0.0 {
        format!("{value:.2} %")
    } else {
        format!("{} %", digits(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        let written = [0.355, 1.0, 12.34, 123.4, 48101.0, 0.0].map(digits);
        assert_eq!(written, ["0.355", "1.00", "12.3", "123", "48101", "0"]);
        assert_eq!(millions(16_350_000.0), "16.4");
    }

    #[test]
    fn percentages_of_resources_are_exact() {
        let of_128 = [40.0, 24.0, 16.0, 8.0, 128.0].map(|uars| percent(uars, 128.0));
        assert_eq!(of_128, ["31.25 %", "18.75 %", "12.50 %", "6.25 %", "100 %"]);
        assert_eq!(percent(1.0, 3.0), "33.3 %");
        assert_eq!(percent(1.0, 0.0), "-");
    }
}
