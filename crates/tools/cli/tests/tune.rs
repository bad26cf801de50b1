//! `weft tune`: from tables to a file.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use weft_prices::{File, Group, Machine};

fn tune(cache: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("tune").args(words).env("XDG_CACHE_HOME", cache);
    command.output().unwrap()
}

fn told(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

/// One operation of 2 ranks on a machine of 2 cores, in which what the built-in prices choose is slow.
fn table(processor: &str, kernel: &str, cores: usize) -> String {
    format!(
        "{processor}, {cores} cores, Linux {kernel}, load 0.00\n\n\
         bcast on 2 ranks, by algorithm (us, lower is better)\n\
         \x20 bytes  chosen  binomial  linear  shared  fastest  chosen/fastest\n\
         \x20 8        9.00      1.00    2.00    9.00  binomial           9.00\n"
    )
}

#[test]
fn tables_become_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let path = folder.path().join("table");
    let named = path.to_str().unwrap();
    let here = Machine::here().unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    fs::write(&path, table(&here.processor, &here.kernel, cores)).unwrap();
    let (out, err) = told(&tune(&cache, &["--from", named, "--near", "--dry-run"]));
    let at = out
        .find("weft prices 1\n")
        .unwrap_or_else(|| panic!("{out}{err}"));
    let shown: File = out[at..].parse().unwrap();
    assert_eq!(shown.machine, here);
    assert!(!cache.exists());
    let (out, err) = told(&tune(&cache, &["--from", named, "--near"]));
    let written = cache.join("weftmpi").join(here.file_name());
    let line = format!("prices: {}\n", written.display());
    assert!(out.ends_with(&line), "{out}{err}");
    let written: File = fs::read_to_string(&written).unwrap().parse().unwrap();
    assert_eq!(written.lists(), shown.lists());
    let expected = match cores {
        1 => Group::SharedCores,
        _ => Group::Near,
    };
    assert!(written.groups().eq([expected]));
}

#[test]
fn what_cannot_be_used_is_told_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let path = folder.path().join("table");
    let named = path.to_str().unwrap();
    for (text, why) in [
        (
            table("Abacus", "2.6", 2),
            "table: it is not of this machine (`",
        ),
        (
            table("Abacus", "2.6", 2).replace("9.00", "x"),
            "table: line 5: `x` is no time in us",
        ),
        (String::new(), "table: no line of the machine's"),
    ] {
        fs::write(&path, text).unwrap();
        let dry = if why.contains("machine (`") {
            &[][..]
        } else {
            &["--dry-run"][..]
        };
        let output = tune(&cache, &[&["--from", named][..], dry].concat());
        let (_, err) = told(&output);
        assert!(!output.status.success() && err.contains(why), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    assert!(!cache.exists());
    assert!(
        told(&tune(&cache, &["--ranks", "1"]))
            .1
            .contains("1 is not in 2..")
    );
}
