//! Which category fits a node.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Adapter, Category, LayoutError, Plan, Shortage, plan};

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
    let mut categories = Category::ALL;
    categories.sort_by_key(|category| std::cmp::Reverse(category.measured_rate_percent()));
    let verdicts = categories
        .into_iter()
        .map(|category| {
            let plan = plan(category, threads, ranks, adapter)?;
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

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for verdict in &self.verdicts {
            let category = verdict.category;
            if Some(category) == self.category {
                let percent = category.measured_rate_percent();
                return write!(
                    formatter,
                    "{category}: the fastest that fits (in the paper {percent} % of MPI everywhere's rate)"
                );
            }
            let refusals: Vec<String> = verdict.refusals.iter().map(Refusal::to_string).collect();
            writeln!(formatter, "not {category}: {}", refusals.join("; "))?;
        }
        formatter.write_str("no category fits")
    }
}
