//! How `bench/bench.h` samples, in a C program of its own that meets nobody.

use std::path::Path;
use std::process::Command;

/// Batches of exactly their share of the budget, each after a pause such as ranks of a loaded machine make before they meet.
/// Prints how many samples there are.
const PROGRAM: &str = r#"
#include "bench.h"
int main(int argc, char **argv)
{
    static struct sampler s;
    const struct timespec pause = {0, argc > 1 ? atol(argv[1]) : 0};
    sampler_start(&s, 0.01);
    do
        nanosleep(&pause, NULL);
    while (sampler_next(&s, s.budget / BATCHES_MAX));
    printf("%d\n", s.count);
}
"#;

fn samples(pause_ns: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("s.c"), folder.path().join("s"));
    std::fs::write(&source, PROGRAM).unwrap();
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-O1", "-I"])
        .args([&bench, &source])
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(compiled.success());
    let output = Command::new(&program).arg(pause_ns.to_string()).output();
    let output = output.unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// The budget is 10 ms: a tenth of a second after sampling began it ends, with five samples of pauses of 20 ms at most, and
/// with three however long the pauses are.
#[test]
fn sampling_ends_though_most_time_passes_between_batches() {
    let slow = samples(20_000_000);
    assert!((3..=6).contains(&slow), "{slow} samples");
    assert_eq!(samples(120_000_000), 3);
}
