//! Which category fits a node.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Adapter, Category, Layout, LayoutError, Plan, Shortage, plan_layout};

/// What endpoints may take, beside what the adapter has. `None` is without bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Bytes on the node.
    pub bytes: Option<u64>,
    /// Wasted uUARs, of 1.
    pub waste: Option<f64>,
}

/// Why a category is not for a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Refusal {
    Shortage(Shortage),
    Bytes { needed: u64, most: u64 },
    Waste { wasted: f64, most: f64 },
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Shortage(shortage) => shortage.fmt(formatter),
            Refusal::Bytes { needed, most } => write!(
                formatter,
                "{} KiB needed, {} allowed",
                needed.div_ceil(1024),
                most / 1024
            ),
            Refusal::Waste { wasted, most } => write!(
                formatter,
                "{:.2} % of uUARs wasted, {:.2} % allowed",
                100.0 * wasted,
                100.0 * most
            ),
        }
    }
}

/// A category on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub category: Category,
    pub plan: Plan,
    /// None if it fits.
    pub refusals: Vec<Refusal>,
}

/// All categories, and the one to take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// From the fastest to the slowest.
    pub verdicts: Vec<Verdict>,
    pub category: Option<Category>,
}

/// The fastest category that fits `ranks` ranks of `threads` threads. How fast they are is what the paper measured with 16 threads
/// ([`Category::measured_rate_percent`]).
pub fn choose(
    threads: usize,
    ranks: u64,
    adapter: &Adapter,
    bound: &Bound,
) -> Result<Choice, LayoutError> {
    choose_layout(|category| category.layout(threads), ranks, adapter, bound)
}

/// The same of layouts that are other than their categories', with more queue pairs for example.
pub fn choose_layout(
    layout: impl Fn(Category) -> Layout,
    ranks: u64,
    adapter: &Adapter,
    bound: &Bound,
) -> Result<Choice, LayoutError> {
    let mut categories = Category::ALL;
    categories.sort_by_key(|category| std::cmp::Reverse(category.measured_rate_percent()));
    let verdicts = categories
        .into_iter()
        .map(|category| {
            let plan = plan_layout(&layout(category), ranks, adapter)?;
            Ok(Verdict {
                category,
                refusals: refusals(&plan, bound),
                plan,
            })
        })
        .collect::<Result<Vec<_>, LayoutError>>()?;
    let fitting = verdicts.iter().find(|verdict| verdict.refusals.is_empty());
    Ok(Choice {
        category: fitting.map(|verdict| verdict.category),
        verdicts,
    })
}

fn refusals(plan: &Plan, bound: &Bound) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if let Some(shortage) = &plan.shortage {
        refusals.push(Refusal::Shortage(shortage.clone()));
    }
    if let Some(most) = bound.bytes.filter(|most| plan.bytes > *most) {
        refusals.push(Refusal::Bytes {
            needed: plan.bytes,
            most,
        });
    }
    let wasted = plan.rank.hardware.waste();
    if let Some(most) = bound.waste.filter(|most| wasted > *most) {
        refusals.push(Refusal::Waste { wasted, most });
    }
    refusals
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.refusals.is_empty() {
            return write!(formatter, "{} fits", self.category);
        }
        let refusals: Vec<String> = self.refusals.iter().map(Refusal::to_string).collect();
        write!(formatter, "not {}: {}", self.category, refusals.join("; "))
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for verdict in self.verdicts.iter().filter(|v| !v.refusals.is_empty()) {
            writeln!(formatter, "{verdict}")?;
        }
        match self.category {
            None => formatter.write_str("no category fits"),
            Some(category) => write!(
                formatter,
                "{category}: the fastest that fits (in the paper {} % of MPI everywhere's rate)",
                category.measured_rate_percent()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(threads: usize, ranks: u64, bound: Bound) -> Option<Category> {
        let choice = choose(threads, ranks, &Adapter::CONNECTX4, &bound).unwrap();
        assert_eq!(choice.verdicts.len(), Category::ALL.len());
        choice.category
    }

    #[test]
    fn without_bounds_the_fastest() {
        assert_eq!(chosen(16, 1, Bound::default()), Some(Category::TwoXDynamic));
    }

    #[test]
    fn memory_decides() {
        let bytes = |kib: u64| Bound {
            bytes: Some(kib * 1024),
            ..Bound::default()
        };
        // What each of the two takes with a protection domain and 16 regions of 144 bytes.
        assert_eq!(chosen(16, 1, bytes(3107)), Some(Category::TwoXDynamic));
        assert_eq!(chosen(16, 1, bytes(3106)), Some(Category::Dynamic));
        assert_eq!(chosen(16, 1, bytes(1683)), Some(Category::Dynamic));
        assert_eq!(chosen(16, 1, bytes(1682)), Some(Category::MpiThreads));
        assert_eq!(chosen(16, 1, bytes(300)), None);
    }

    #[test]
    fn waste_decides() {
        let waste = |waste| Bound {
            waste: Some(waste),
            ..Bound::default()
        };
        // 93.75, 60, 66.7, 50 and 6.25 % at 16 threads, of MPI+threads 93.75 %.
        assert_eq!(chosen(16, 1, waste(0.6)), Some(Category::TwoXDynamic));
        assert_eq!(chosen(16, 1, waste(0.59)), Some(Category::SharedDynamic));
        assert_eq!(chosen(16, 1, waste(0.49)), Some(Category::Static));
        assert_eq!(chosen(16, 1, waste(0.06)), None);
    }

    #[test]
    fn uars_decide() {
        // 8163 pages: 40, 128, 24, 16 and 8 a rank.
        let ranks = |ranks| chosen(16, ranks, Bound::default());
        assert_eq!(ranks(204), Some(Category::TwoXDynamic));
        assert_eq!(ranks(205), Some(Category::Dynamic));
        assert_eq!(ranks(341), Some(Category::SharedDynamic));
        assert_eq!(ranks(511), Some(Category::Static));
        assert_eq!(ranks(1020), Some(Category::Static));
        assert_eq!(ranks(1021), None);
    }

    #[test]
    fn it_says_why() {
        let bound = Bound {
            bytes: Some(2 << 20),
            waste: Some(0.5),
        };
        let choice = choose(16, 1, &Adapter::CONNECTX4, &bound).unwrap();
        let text = choice.to_string();
        let first = "not 2xdynamic: 3107 KiB needed, 2048 allowed; 60.00 % of uUARs wasted, 50.00 % allowed";
        assert_eq!(text.lines().next(), Some(first));
        assert!(
            text.ends_with(
                "shared-dynamic: the fastest that fits (in the paper 65 % of MPI everywhere's rate)"
            ),
            "{text}"
        );
        let none = choose(16, 2000, &Adapter::CONNECTX4, &bound).unwrap();
        assert!(none.to_string().ends_with("no category fits"));
        assert!(
            none.to_string()
                .contains("16000 UARs needed, the adapter has 8163")
        );
    }
}
