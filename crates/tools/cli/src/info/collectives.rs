//! `weft info --collectives`: by which algorithm each collective operation goes on this host.

use std::fmt::Write;

use std::path::Path;

use weft_collective::{CHOICES, Choice};
use weft_prices::{Found, find};

use crate::bench::stats::binary;

/// Has this program choose by the prices that rank 0 of a job of the installation in `prefix` would, and says which
/// these are.
pub fn take_prices(prefix: &Path) -> String {
    let found = find(Some(prefix));
    let told = prices(&found);
    if let Found::File(_, file) = found {
        weft_collective::set_prices(file.lists());
    }
    told
}

/// Where prices come from, in a line.
pub fn prices(found: &Found) -> String {
    match found {
        Found::BuiltIn => "prices: built-in\n".into(),
        Found::Refused(why) => format!("prices: built-in; {why}\n"),
        Found::File(path, file) => {
            let groups: Vec<&str> = file.groups().map(|group| group.name()).collect();
            let (path, date) = (path.display(), &file.origin.date);
            format!("prices: {path} ({}; {date})\n", groups.join(", "))
        }
    }
}

/// Among so many ranks, on so many cores.
pub fn text(ranks: usize, cores: usize) -> String {
    if ranks > cores {
        return of(ranks, "that share cores", |choice| {
            choice.ranges(ranks, true, false)
        });
    }
    let near = of(ranks, "whose cores are near each other", |choice| {
        choice.ranges(ranks, false, true)
    });
    let far = of(ranks, "with a core each", |choice| {
        choice.ranges(ranks, false, false)
    });
    format!("{near}\n{far}")
}

fn of(ranks: usize, which: &str, ranges: impl Fn(&Choice) -> Vec<(usize, String)>) -> String {
    let mut text = format!("{ranks} ranks {which}; bytes of the message or block\n");
    for choice in &CHOICES {
        let ranges = ranges(choice);
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {:<16} {}", choice.operation, told(&ranges));
    }
    text
}

/// `shared to 4K, linear to 64K, binomial`.
fn told(ranges: &[(usize, String)]) -> String {
    let told = ranges
        .iter()
        .map(|(longest, name)| match longest.checked_add(1) {
            None => name.clone(),
            Some(end) => format!("{name} below {}", binary(end as u64)),
        });
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_ends_where_the_next_begins() {
        let ranges = [(4095, "shared".into()), (usize::MAX, "linear".into())];
        assert_eq!(told(&ranges), "shared below 4K, linear");
    }

    #[test]
    fn all_operations_are_told_for_cores_that_are_shared_or_not() {
        let operations = CHOICES.len();
        assert_eq!(text(4, 2).lines().count(), 1 + operations);
        let apart = text(2, 2);
        assert_eq!(apart.lines().count(), 2 * (1 + operations) + 1);
        assert!(apart.contains("  barrier          shared\n"), "{apart}");
    }
}
