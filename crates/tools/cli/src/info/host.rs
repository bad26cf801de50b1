//! `weft info --host`: what the host charges, measured.

use std::fmt::Write;

use weft_host::{ByCores, Model};

use crate::bench::stats::binary;

pub fn text() -> String {
    let model = Model::measure();
    let mut text = String::new();
    let mut line = |what: &str, figures: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{what:<54} {figures}");
    };
    line("CPUs", listed(&model.cpus));
    let first = model.cpus[0];
    let words = model
        .word_ns
        .iter()
        .map(|(cpu, ns)| format!("{cpu}:{ns:.0}"));
    line(
        &format!("a word from CPU {first} to CPU n, ns"),
        words.collect::<Vec<_>>().join(" "),
    );
    line(
        "a line to n-1 readers and their answers, ns",
        by(&model.answers_ns, 0),
    );
    line(
        "an addition to one counter by n, ns",
        by(&model.counter_ns, 0),
    );
    for (bytes, rates) in &model.copy_rates {
        let what = format!("n copy {} bytes each, GB/s each", binary(*bytes as u64));
        line(&what, by(rates, 1));
    }
    for (bytes, times) in &model.same_copies_us {
        let what = format!(
            "n-1 copy {} bytes that one wrote, us",
            binary(*bytes as u64)
        );
        line(&what, by(times, 2));
    }
    match &model.kernel_copies {
        None => line("process_vm_readv", "not allowed".into()),
        Some(all) => {
            for (bytes, copies) in all {
                let bytes = binary(*bytes as u64);
                let what = format!("process_vm_readv of {bytes} bytes by n, us: from one");
                line(&what, by(&copies.of_one_us, 1));
                line("  from one each", by(&copies.of_own_us, 1));
            }
        }
    }
    for wake in &model.wakes {
        let what = format!("a wake after {} us of sleep, us", wake.asleep_us);
        let (median, most, call) = (wake.median_us, wake.most_us, wake.call_us);
        line(
            &what,
            format!("{median:.1}, at most {most:.1}; the call {call:.1}"),
        );
    }
    line("a yield, ns", format!("{:.0}", model.yield_ns));
    text
}

fn by(figures: &ByCores, digits: usize) -> String {
    let all = figures
        .iter()
        .map(|(n, figure)| format!("{n}:{figure:.digits$}"));
    all.collect::<Vec<_>>().join(" ")
}

/// As a list of CPUs is written in sysfs: 0-3,8.
fn listed(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let written = ranges.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_by_ranges() {
        assert_eq!(listed(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(listed(&[3]), "3");
    }

    #[test]
    fn figures_are_told_by_numbers_of_cores() {
        assert_eq!(by(&vec![(1, 0.25), (16, 12.0)], 1), "1:0.2 16:12.0");
    }
}
