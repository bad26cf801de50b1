//! The conditions under which a benchmark's figures are taken, in words, to stand beside them.

use super::benchmark::Axis;
use super::core_latency::CoreLatency;
use super::library::Pin;
use super::options::Options;
use super::patterns::{PATTERNS, ways};
use super::plan::Plan;

pub fn conditions(options: &Options, plan: &Plan) -> String {
    let mut all = Vec::new();
    if let Axis::Points { .. } = plan.benchmark.axis {
        all.push(format!("{} ranks", plan.ranks));
    }
    all.push(pinning(plan).into());
    if *plan.benchmark == PATTERNS {
        all.extend(ways(&options.patterns));
    }
    all.extend(plan.core_latency.iter().map(CoreLatency::condition));
    let most = plan.within_seconds.map_or("", |_| "at most ");
    all.push(format!("{most}{} rounds", plan.rounds));
    all.join(", ")
}

fn pinning(plan: &Plan) -> &'static str {
    let pin = match plan.benchmark.axis {
        Axis::Points { .. } => plan
            .pin
            .resolve(plan.ranks, plan.cores, plan.benchmark.threads),
        Axis::Ranks { .. } => plan.pin,
    };
    match pin {
        Pin::Auto => "pinned while each has a core",
        Pin::Core => "pinned to a core each",
        Pin::None => "free to run on every core",
        Pin::Default => "not pinned by us",
    }
}
