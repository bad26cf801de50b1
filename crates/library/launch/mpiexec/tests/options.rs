//! What the options do to the ranks.

mod common;

use common::{Folder, mpiexec, rank_program};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

#[test]
fn starts_as_many_ranks_as_asked() {
    for (option, ranks) in [(&["-n", "5"][..], 5), (&["--np=2"], 2), (&[], 1)] {
        let arguments = [option, &["RANK", "init", "cards", "finalize"]].concat();
        let outcome = mpiexec(&arguments).run().expect(0);
        assert_eq!(
            outcome.stdout,
            format!("read {ranks} cards\n").repeat(ranks)
        );
        assert_eq!(outcome.stderr, "");
    }
}

#[test]
fn serves_64_ranks() {
    let outcome = mpiexec(&["-n", "64", "RANK", "init", "cards", "fence", "finalize"])
        .run()
        .expect(0);
    assert_eq!(outcome.stdout, "read 64 cards\n".repeat(64));
}

#[test]
fn tells_each_rank_its_place() {
    let outcome = mpiexec(&[
        "-n", "2", "RANK", "init", "job", "finalize", ":", "RANK", "init", "job", "finalize",
    ]);
    let lines = outcome.run().expect(0).sorted_lines();
    for (rank, application) in [(0, 0), (1, 0), (2, 1)] {
        let expected = format!(
            "rank: {rank}, size: 3, local_rank: {rank}, local_size: 3, local_ranks: [0, 1, 2], app_num: {application}, universe_size: Some(3), host_cores: Some("
        );
        assert!(lines[rank].contains(&expected), "{}", lines[rank]);
    }
}

/// MPI-5.0 §11.2.1, by program: as options were given, on one host and on two that are one.
#[test]
fn tells_each_program_its_own_options() {
    let folder = Folder::new();
    let file = folder.write("options", "-n 1 -soft 1\n");
    for (hosts, launcher) in [("localhost", "ssh"), ("a:2,b:2", "fork")] {
        let words = ["RANK", "init", "program", "finalize"];
        let first = [
            "-launcher",
            launcher,
            "-n",
            "2",
            "-soft",
            "1,2:4:2",
            "-host",
            hosts,
        ];
        let arguments = [
            &first[..],
            &words,
            &[":", "-n", "3"],
            &words,
            &[":", "-file", &file],
            &words,
        ];
        let outcome = mpiexec(&arguments.concat()).run().expect(0);
        let told = format!(" maxprocs=2 soft=1,2:4:2 host={hosts}");
        let mut expected = vec![format!("rank 0{told}"), format!("rank 1{told}")];
        expected.extend((2..5).map(|rank| format!("rank {rank} maxprocs=3")));
        expected.push(format!("rank 5 maxprocs=1 file={file} soft=1"));
        assert_eq!(outcome.sorted_lines(), expected);
    }
}

#[test]
fn sets_variables_for_all_for_one_program_and_from_its_own() {
    let show = "echo $PMI_RANK $A $B $C $D";
    let outcome = mpiexec(&[
        "-genv", "A", "all", "-genv", "B", "all", "-env", "B", "one", "sh", "-c", show, ":", "-x",
        "C=x=y", "-x", "D", "sh", "-c", show,
    ]);
    let outcome = outcome.env("D", "own").env("C", "own").run().expect(0);
    assert_eq!(
        outcome.sorted_lines(),
        ["0 all one own own", "1 all all x=y own"]
    );
}

#[test]
fn hides_what_another_launcher_has_said() {
    let outcome = mpiexec(&[
        "sh",
        "-c",
        "echo $PMI_PORT $PMIX_RANK $SLURM_STEP_NUM_TASKS.$PMI_SIZE",
    ]);
    let outcome = outcome
        .env("PMI_PORT", "x:1")
        .env("PMIX_RANK", "3")
        .env("SLURM_STEP_NUM_TASKS", "9");
    assert_eq!(outcome.run().expect(0).stdout, ".1\n");
}

#[test]
fn changes_the_working_directory() {
    let folder = Folder::new();
    folder.script("here", "#!/bin/sh\npwd\n");
    let path = folder.0.to_str().unwrap();
    let real = folder.0.canonicalize().unwrap();
    assert_eq!(
        mpiexec(&["-wdir", path, "pwd"])
            .run()
            .expect(0)
            .stdout
            .trim(),
        real.to_str().unwrap()
    );
    assert_eq!(
        mpiexec(&["-wdir", path, "./here"])
            .run()
            .expect(0)
            .stdout
            .trim(),
        real.to_str().unwrap()
    );
    let missing = mpiexec(&["-wdir", "/nonexistent", "pwd"]).run().expect(1);
    assert!(missing.stderr.contains("/nonexistent") && missing.stderr.lines().count() == 1);
}

#[test]
fn finds_programs_on_the_given_path_first() {
    let folder = Folder::new();
    folder.script("pwd", "#!/bin/sh\necho mine\n");
    folder.script("only-here", "echo without an interpreter line\n");
    let path = folder.0.to_str().unwrap();
    assert_eq!(
        mpiexec(&["-path", path, "pwd"]).run().expect(0).stdout,
        "mine\n"
    );
    assert_eq!(
        mpiexec(&["-genv", "PATH", path, "pwd"])
            .run()
            .expect(0)
            .stdout,
        "mine\n"
    );
    assert_eq!(
        mpiexec(&["-path", path, "only-here"])
            .run()
            .expect(0)
            .stdout,
        "without an interpreter line\n"
    );
    let hint = mpiexec(&["only-here"])
        .directory(&folder.0)
        .run()
        .expect(127);
    assert!(hint.stderr.contains("write ./only-here"), "{}", hint.stderr);
}

#[test]
fn says_why_a_program_cannot_start() {
    let folder = Folder::new();
    let plain = folder.write("plain", "text");
    let orphan = folder.script("orphan", "#!/nonexistent/interpreter\n");
    for (program, code, words) in [
        ("no-such-program", 127, "on PATH"),
        ("NAME=VALUE", 127, "-x NAME=VALUE"),
        ("./no/such", 127, "there is no"),
        (&plain, 126, "not an executable"),
        ("/", 126, "not an executable"),
        (&orphan, 127, "interpreter"),
    ] {
        let outcome = mpiexec(&["-n", "2", program]).run().expect(code);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn reads_programs_from_a_file() {
    let folder = Folder::new();
    let file = folder.write(
        "job",
        "# two programs\n-n 2 sh -c 'echo \"first $PMI_RANK\"'\n\n-env A b \\\n  sh -c 'echo second $PMI_RANK $A'\n",
    );
    let outcome = mpiexec(&["-configfile", &file]).run().expect(0);
    assert_eq!(outcome.sorted_lines(), ["first 0", "first 1", "second 2 b"]);
    let options = folder.write("options", "-n 3 -env A x\n");
    let outcome = mpiexec(&["-file", &options, "sh", "-c", "echo $A"])
        .run()
        .expect(0);
    assert_eq!(outcome.stdout, "x\nx\nx\n");
    mpiexec(&["-configfile", &file, "extra"]).run().expect(2);
    mpiexec(&["-file", &file, "true"]).run().expect(2);
    let empty = folder.write("empty", "# nothing\n");
    mpiexec(&["-configfile", &empty]).run().expect(2);
}

#[test]
fn accepts_what_is_so_in_any_case() {
    mpiexec(&[
        "-host",
        "localhost",
        "-arch",
        std::env::consts::ARCH,
        "-soft",
        "1:4",
        "-n",
        "2",
        "true",
    ])
    .run()
    .expect(0);
    mpiexec(&["--oversubscribe", "--allow-run-as-root", "true"])
        .run()
        .expect(0);
}

#[test]
fn wrong_options_give_one_line_and_code_2() {
    for arguments in [
        &[][..],
        &["-n"],
        &["-n", "0", "true"],
        &["--nope", "true"],
        &["true", ":"],
        &["--timeout", "x", "true"],
    ] {
        let outcome = mpiexec(arguments).run().expect(2);
        assert!(
            outcome.stderr.starts_with("mpiexec: ") && outcome.stderr.lines().count() == 1,
            "{}",
            outcome.stderr
        );
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = mpiexec(&["--help"]).run().expect(0);
    assert!(
        help.stdout.starts_with("Usage: mpiexec")
            && help.stdout.lines().all(|line| line.len() <= 120)
    );
    assert!(
        mpiexec(&["--version"])
            .run()
            .expect(0)
            .stdout
            .starts_with("mpiexec (WeftMPI) ")
    );
}

/// The CPUs in the affinity masks of `ranks` ranks started with these options.
fn masks(options: &[&str], ranks: usize) -> Vec<String> {
    let count = ranks.to_string();
    let show = "grep Cpus_allowed_list: /proc/self/status | sed s/.*://";
    let arguments = [options, &["-n", &count, "-l", "sh", "-c", show]].concat();
    mpiexec(&arguments).run().expect(0).sorted_lines()
}

#[test]
fn binds_ranks_to_cores_of_their_own() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let own = masks(&["--bind-to", "none"], 1)[0].clone();
    let free = |line: &String| {
        line.split_whitespace().nth(1).map(str::to_owned)
            == own.split_whitespace().nth(1).map(str::to_owned)
    };
    assert!(masks(&["--bind-to", "none"], 2).iter().all(free));
    assert_eq!(masks(&["--bind-to", "core"], cpus + 1).len(), cpus + 1);
    let report = mpiexec(&["--report-bindings", "--bind-to", "core", "-n", "2", "true"])
        .run()
        .expect(0)
        .stderr;
    assert!(
        report.starts_with("rank 0: bound to CPUs ") && report.lines().count() == 2,
        "{report}"
    );
    if cpus >= 2 {
        let bound = masks(&["--bind-to", "core"], 2);
        let mask = |line: &String| line.split_whitespace().nth(1).unwrap().to_owned();
        assert_ne!(mask(&bound[0]), mask(&bound[1]));
        assert!(
            report.contains(&format!("rank 1: bound to CPUs {}", mask(&bound[1]))),
            "{report} {bound:?}"
        );
    }
}

/// Whatever the number of ranks is: a runtime of threads that sees more CPUs than are its own spins against other ranks.
#[test]
fn each_core_has_as_many_ranks_as_any_or_one_more() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let report = mpiexec(&[
        "--report-bindings",
        "-n",
        &(2 * cpus + 1).to_string(),
        "true",
    ])
    .run()
    .expect(0)
    .stderr;
    if report.contains("quota") {
        return;
    }
    for ranks in [2 * cpus - 1, 2 * cpus, 2 * cpus + 1] {
        let mut ranks_on = std::collections::BTreeMap::new();
        for line in masks(&[], ranks) {
            *ranks_on
                .entry(line.split_whitespace().nth(1).unwrap().to_owned())
                .or_insert(0) += 1;
        }
        let (least, most) = (
            ranks_on.values().min().unwrap(),
            ranks_on.values().max().unwrap(),
        );
        assert!(
            most - least <= 1 && (cpus == 1 || ranks_on.len() >= 2),
            "{ranks_on:?}"
        );
    }
    let report = mpiexec(&["--report-bindings", "--bind-to", "none", "true"])
        .run()
        .expect(0)
        .stderr;
    assert!(
        report.starts_with("rank 0: not bound (--bind-to none), CPUs "),
        "{report}"
    );
}

/// What the units test on machines made up, on this one: masks are what the options say.
#[test]
fn binds_as_options_say() {
    let mask = |line: &String| line.split_whitespace().nth(1).unwrap().to_owned();
    let all = mask(&masks(&["--bind-to", "none"], 1)[0]);
    for options in [
        &["--bind-to", "machine"][..],
        &["--map-by", "slot", "--bind-to", "machine"],
        &["-bind-to", "board"],
    ] {
        assert!(
            masks(options, 2).iter().all(|line| mask(line) == all),
            "{options:?}"
        );
    }
    let first = all.split([',', '-']).next().unwrap().to_owned();
    let user = format!("user:{first}");
    let set: &[&str] = &["--cpu-set", &first];
    for options in [
        &["-bind-to", &user][..],
        set,
        &["--map-by", &format!("pe-list={first}:ordered")],
    ] {
        assert!(
            masks(options, 2).iter().all(|line| mask(line) == first),
            "{options:?}"
        );
    }
    let one = |options: &[&str]| masks(options, 2).iter().map(mask).collect::<Vec<String>>();
    let cores = one(&["--bind-to", "core"]);
    for options in [
        &["--map-by", "core"][..],
        &["--map-by", "slot:PE=1"],
        &["--map-by", "machine:PE=1"],
        &["--cpus-per-rank", "1"],
        &["-bind-to", "core:1"],
        &["--map-by", "ppr:1:core"],
        &["--bind-to-core"],
    ] {
        assert_eq!(one(options), cores, "{options:?}");
    }
    let refused = mpiexec(&["--cpus-per-rank", "100000", "true"])
        .run()
        .expect(2);
    assert!(
        refused.stderr.contains("this host has "),
        "{}",
        refused.stderr
    );
    let refused = mpiexec(&["-bind-to", "user:100000", "true"])
        .run()
        .expect(2);
    assert!(
        refused.stderr.contains("CPU 100000 is not among"),
        "{}",
        refused.stderr
    );
}

#[test]
fn prints_the_map_and_hosts_and_cores_and_then_runs() {
    let options = ["--display", "map,allocation,topo", "-n", "2", "echo", "ran"];
    let outcome = mpiexec(&options).run().expect(0);
    assert_eq!(outcome.stdout, "ran\nran\n");
    for words in ["rank 1: ", "/echo ran", "ranks 0-1", "socket 0, numa "] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}

#[test]
fn standard_error_goes_with_standard_output_where_asked() {
    let script = "echo out; echo err >&2";
    for option in ["--merge-stderr-to-stdout", "--output=merge"] {
        let outcome = mpiexec(&[option, "sh", "-c", script]).run().expect(0);
        assert_eq!(
            (outcome.stdout.as_str(), outcome.stderr.as_str()),
            ("out\nerr\n", "")
        );
    }
    let outcome = mpiexec(&["--output", "tag,merge", "sh", "-c", script])
        .run()
        .expect(0);
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("[0] out\n[0] err\n", "")
    );
}

#[test]
fn tells_on_request_which_options_change_nothing() {
    let options = ["-v", "-silent-abort", "--mca", "btl", "self", "true"];
    let told = mpiexec(&options).run().expect(0).stderr;
    assert!(
        told.contains("mpiexec: -silent-abort changes nothing: "),
        "{told}"
    );
    assert!(told.contains("mpiexec: --mca changes nothing: "), "{told}");
}

#[test]
fn a_dry_run_prints_and_starts_nothing() {
    let folder = Folder::new();
    let file = folder.0.join("made");
    let path = file.to_str().unwrap();
    let outcome = mpiexec(&[
        "--dry-run",
        "-n",
        "2",
        "touch",
        path,
        ":",
        "-wdir",
        "/",
        "echo",
        "a b",
    ])
    .run()
    .expect(0);
    assert!(!file.exists());
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(
        lines.len() == 3
            && lines[1].starts_with("rank 1: ")
            && lines[1].ends_with(&format!("/touch {path}")),
        "{lines:?}"
    );
    assert!(
        lines[2].contains(", in /: ") && lines[2].ends_with("echo 'a b'"),
        "{lines:?}"
    );
}

#[test]
fn verbose_tells_what_it_does() {
    let outcome = mpiexec(&["-v", "-n", "2", "RANK", "init", "finalize"])
        .run()
        .expect(0);
    for words in [
        "rank 1 is process",
        "rank 0 has called MPI_Init",
        "has ended",
    ] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}

#[test]
fn standard_input_goes_where_asked() {
    let each = ["-l", "-n", "3", "cat"];
    let read = |options: &[&str]| {
        mpiexec(&[options, &each].concat())
            .input("a\nb\n")
            .run()
            .expect(0)
            .sorted_lines()
    };
    assert_eq!(read(&[]), ["[0] a", "[0] b"]);
    assert_eq!(read(&["--stdin", "2"]), ["[2] a", "[2] b"]);
    assert_eq!(read(&["--stdin", "none"]), [""; 0]);
    assert_eq!(
        read(&["--stdin", "all"]),
        ["[0] a", "[0] b", "[1] a", "[1] b", "[2] a", "[2] b"]
    );
}

/// More than pipes hold, to readers of different speed, one of which stops early; from a pipe and from a file.
#[test]
fn standard_input_for_all_is_whole() {
    let script =
        "case $PMI_RANK in 0) sleep 0.1; cksum;; 1) cksum;; 2) head -c 10 >/dev/null;; esac";
    let arguments = ["--stdin", "all", "-n", "3", "sh", "-c", script];
    let text: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
    let folder = Folder::new();
    let path = folder.0.join("input");
    std::fs::write(&path, &text).unwrap();
    let piped = mpiexec(&arguments)
        .input(text)
        .run()
        .expect(0)
        .sorted_lines();
    let filed = mpiexec(&arguments)
        .stdin(File::open(&path).unwrap())
        .run()
        .expect(0)
        .sorted_lines();
    assert!(
        piped.len() == 2 && piped[0] == piped[1] && piped[0].ends_with(" 3000000"),
        "{piped:?}"
    );
    assert_eq!(piped, filed);
    assert_eq!(
        mpiexec(&arguments)
            .stdin(File::open("/dev/null").unwrap())
            .run()
            .expect(0)
            .sorted_lines()
            .len(),
        2
    );
}

#[test]
fn prefixed_lines_are_whole() {
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do printf 'half of %s ' $i; echo line $i; echo error $i >&2; done; printf end";
    let outcome = mpiexec(&["-n", "8", "--prefix-output", "sh", "-c", script])
        .run()
        .expect(0);
    let mut expected = Vec::new();
    for rank in 0..8 {
        expected.extend((1..=10).map(|i| format!("[{rank}] half of {i} line {i}")));
        expected.push(format!("[{rank}] end"));
    }
    expected.sort();
    assert_eq!(outcome.sorted_lines(), expected);
    assert_eq!(
        outcome
            .stderr
            .lines()
            .filter(|line| line.ends_with("] error 7"))
            .count(),
        8
    );
}

#[test]
fn prefixed_output_in_bulk_is_complete() {
    let outcome = mpiexec(&["-n", "4", "-l", "sh", "-c", "seq 1 100000"])
        .run()
        .expect(0);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    for rank in 0..4 {
        let prefix = format!("[{rank}] ");
        let numbers = lines.iter().filter_map(|line| line.strip_prefix(&prefix));
        assert!(
            numbers
                .map(|number| number.parse::<u32>().unwrap())
                .eq(1..=100_000),
            "rank {rank}"
        );
    }
}

#[test]
fn output_goes_to_files() {
    let folder = Folder::new();
    let directory = folder.0.join("out/put");
    let script = "echo to output $PMI_RANK; echo to error $PMI_RANK >&2";
    let outcome = mpiexec(&[
        "--output-dir",
        directory.to_str().unwrap(),
        "-n",
        "2",
        "sh",
        "-c",
        script,
    ])
    .run()
    .expect(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    assert_eq!(folder.read("out/put/rank.1.out"), "to output 1\n");
    assert_eq!(folder.read("out/put/rank.0.err"), "to error 0\n");
}

#[test]
fn a_file_that_cannot_be_written_ends_the_job_and_is_named() {
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "one,two"]] {
        let folder = Folder::new();
        let full = folder.0.join("rank.1.out");
        std::os::unix::fs::symlink("/dev/full", full).expect("a link");
        let directory = folder.0.to_str().expect("a path in UTF-8");
        // A rank that does not look whether it could print.
        let job = [
            "-n",
            "2",
            "--output-dir",
            directory,
            "sh",
            "-c",
            "echo lost; true",
        ];
        let outcome = mpiexec(&[hosts, &job].concat()).run().expect(1);
        assert_eq!(
            outcome.stderr,
            format!(
                "mpiexec: {directory}/rank.1.out cannot be written: No space left on device (os error 28); the job is ended\n"
            )
        );
    }
}

#[test]
fn too_few_descriptors_are_told() {
    for count in 6..20 {
        let outcome = mpiexec(&["-n", "4", "true"]).with_descriptors(count).run();
        if outcome.code() == 0 {
            assert!(count > 10, "{count}");
            return;
        }
        let told = format!("may have {count} files open here");
        assert!(
            outcome.stderr.starts_with("mpiexec: ")
                && outcome.stderr.contains(&told)
                && outcome.stderr.contains("ulimit -n"),
            "{}",
            outcome.stderr
        );
    }
    panic!("20 do not suffice");
}

#[test]
fn what_errors_quote_is_clipped() {
    let long = "h".repeat(100_000);
    for arguments in [
        &["--hosts", &long, "true"][..],
        &["-n", &long, "true"],
        &["-wdir", &long, "true"],
        &["-n", "2", &long],
        &["--configfile", &long],
        &[&format!("--{long}")],
    ] {
        let outcome = mpiexec(arguments).run();
        assert!(outcome.code() != 0 && outcome.stderr.len() < 1000);
    }
}

/// Paths and values are bytes: none of them is in UTF-8 here.
#[test]
fn words_may_be_in_any_encoding() {
    let folder = Folder::new();
    let odd = OsStr::from_bytes(b"caf\xe9 'x'");
    let directory = folder.0.join(odd);
    std::fs::create_dir(&directory).expect("a directory");
    let program = directory.join(odd);
    let source = folder.script(
        "source",
        "#!/bin/sh\nprintf '%s|%s|%s' \"$1\" \"$ODD\" \"$PWD\" >out\n",
    );
    std::fs::rename(source, &program).expect("moved");
    let mut output_directory = OsString::from("--output-dir=");
    output_directory.push(&directory);
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "one"]] {
        let mut mpiexec = mpiexec(hosts);
        mpiexec.push(&[&output_directory]);
        let words = [
            OsStr::new("-env"),
            OsStr::new("ODD"),
            odd,
            OsStr::new("-wdir"),
            directory.as_os_str(),
        ];
        mpiexec.push(&words);
        mpiexec.push(&[program.as_os_str(), odd]);
        mpiexec.run().expect(0);
        let expected = [
            odd.as_bytes(),
            odd.as_bytes(),
            directory.as_os_str().as_bytes(),
        ];
        let told = std::fs::read(directory.join("out")).expect("it has run");
        assert_eq!(told, expected.join(&b'|'));
        for name in ["out", "rank.0.out"] {
            std::fs::remove_file(directory.join(name)).expect("a file");
        }
    }
}

#[test]
fn programs_of_one_rank_may_follow_each_other() {
    let script = format!(
        "{0} init cards finalize && {0} init cards finalize",
        rank_program()
    );
    let outcome = mpiexec(&["-n", "3", "sh", "-c", &script]).run().expect(0);
    assert_eq!(outcome.stdout, "read 3 cards\n".repeat(6));
}

/// The signals in one of a rank's sets, when mpiexec starts with SIGHUP ignored.
fn signal_set(label: &str) -> u64 {
    let outcome = mpiexec(&["grep", label, "/proc/self/status"])
        .ignoring(libc::SIGHUP)
        .run()
        .expect(0);
    let set = outcome
        .stdout
        .split_whitespace()
        .nth(1)
        .map(|set| u64::from_str_radix(set, 16));
    set.expect("a set").expect("in hexadecimal digits")
}

/// mpiexec's own handling of signals is not handed on; what it was started with is (nohup).
#[test]
fn ranks_start_with_ordinary_signals() {
    let has = |set: u64, signal: i32| set >> (signal - 1) & 1 == 1;
    assert_eq!(signal_set("^SigBlk"), 0);
    let ignored = signal_set("^SigIgn");
    assert!(
        !has(ignored, libc::SIGPIPE) && !has(ignored, libc::SIGCHLD) && has(ignored, libc::SIGHUP)
    );
}
