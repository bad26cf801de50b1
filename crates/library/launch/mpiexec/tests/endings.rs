//! How jobs end: exit codes, failures, signals, timeouts. `finish` checks in each test that no process stays.

mod common;

use common::{Folder, Process, at_least_once, demand, mpiexec, rank_program};
use std::time::{Duration, Instant};

/// Under mpiexec's time for ranks to clean up or to report, which is 2 s.
const AT_ONCE: Duration = Duration::from_millis(1900);

fn ranks(processes: &[Process]) -> usize {
    processes
        .iter()
        .filter(|process| process.command == "rank")
        .count()
}

#[test]
fn the_first_failing_rank_decides_the_exit_code() {
    let outcome = mpiexec(&["-n", "3", "RANK", "init", "1@exit=9", "hold"])
        .run()
        .expect(9);
    assert!(
        outcome.stderr.starts_with("mpiexec: rank 1 (pid ")
            && outcome.stderr.contains("exited with code 9")
    );
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    // SIGTERM ends the others.
    at_least_once(|| {
        let job = mpiexec(&["-v", "-n", "3", "RANK", "init", "1@exit=9", "hold"]);
        let told = job.run().expect(9).stderr;
        assert!(told.contains("SIGTERM goes"), "{told}");
        demand(!told.contains("SIGKILL goes"), &told)
    });
    let later = "[ $PMI_RANK = 1 ] && exit 3; trap 'exit 4' TERM; while :; do sleep 0.02; done";
    mpiexec(&["-n", "2", "sh", "-c", later]).run().expect(3);
    mpiexec(&["false"]).run().expect(1);
}

#[test]
fn a_code_after_finalize_ends_nobody_else() {
    let outcome = mpiexec(&[
        "-n",
        "2",
        "RANK",
        "init",
        "pids",
        "finalize",
        "1@exit=5",
        "outlive=1",
        "sleep=200",
        "say=done",
    ])
    .run()
    .expect(5);
    assert_eq!(outcome.stdout, "done\n");
    assert!(
        outcome.stderr.contains("rank 1") && outcome.stderr.contains("after MPI_Finalize"),
        "{}",
        outcome.stderr
    );
    mpiexec(&[
        "-n",
        "2",
        "RANK",
        "init",
        "pids",
        "finalize",
        "1@exit=5",
        "outlive=1",
        "exit=6",
    ])
    .run()
    .expect(5);
}

#[test]
fn a_rank_killed_by_a_signal_ends_the_job() {
    for (signal, words) in [
        (libc::SIGKILL, "9 (Killed)"),
        (libc::SIGABRT, "6 (Aborted)"),
    ] {
        let action = format!("1@kill={signal}");
        let outcome = mpiexec(&["-n", "4", "RANK", "init", "fence", &action, "hold"])
            .run()
            .expect(128 + signal);
        assert!(
            outcome.stderr.contains("rank 1 (pid ") && outcome.stderr.contains(words),
            "{}",
            outcome.stderr
        );
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
}

/// Rank 0 aborts because of what rank 1 does, and it is rank 1 that decides, whichever the launcher hears first.
/// What the launcher says, each of several times.
fn rank_1_decides(actions: &[&str], code: i32) -> Vec<String> {
    let said = (0..10).map(|_| {
        let first = ["-n", "2", "RANK", "init", "pids"];
        let outcome = mpiexec(&[&first[..], actions, &["hold"]].concat())
            .run()
            .expect(code);
        assert!(
            outcome.stderr.contains("rank 1 (pid "),
            "{}",
            outcome.stderr
        );
        outcome.stderr
    });
    said.collect()
}

#[test]
fn a_killed_rank_decides_though_another_aborts_because_of_it() {
    let actions = ["1@open=900", "fence", "0@mourn=1", "1@kill=9"];
    rank_1_decides(&actions, 128 + libc::SIGKILL);
}

#[test]
fn the_first_abort_decides_though_another_follows_because_of_it() {
    let said = rank_1_decides(&["fence", "0@mourn=1", "1@abort=7"], 7);
    assert!(!said.concat().contains("rank 0 (pid "), "{said:?}");
}

#[test]
fn leaving_without_finalize_is_a_failure() {
    let outcome = mpiexec(&["-n", "2", "RANK", "init", "1@exit=0", "hold"])
        .run()
        .expect(1);
    assert!(
        outcome.stderr.contains("without calling MPI_Finalize"),
        "{}",
        outcome.stderr
    );
    // A program without MPI may end when it likes.
    mpiexec(&["-n", "2", "RANK", "0@exit=0", "sleep=100"])
        .run()
        .expect(0);
}

#[test]
fn a_rank_that_never_comes_is_not_waited_for() {
    for actions in [
        &["1@exit=0", "init", "fence"][..],
        &["init", "1@finalize", "1@exit=0", "fence"],
    ] {
        let outcome = mpiexec(&[&["-n", "3", "RANK"], actions].concat())
            .run()
            .expect(1);
        assert!(
            outcome.stderr.contains("rank 1 ") && outcome.stderr.contains("waits for it"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn abort_ends_the_job_with_its_code() {
    let outcome = mpiexec(&[
        "-n",
        "3",
        "RANK",
        "init",
        "2@say=printed",
        "2@abort=7",
        "hold",
    ])
    .run()
    .expect(7);
    assert!(
        outcome.stderr.contains("called MPI_Abort with code 7"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("rank 2 of 3: asked to abort"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stdout, "printed\n");
    mpiexec(&["-n", "2", "RANK", "init", "0@abort=258", "hold"])
        .run()
        .expect(2);
}

#[test]
fn a_malformed_line_is_named_and_ends_the_job() {
    let outcome = mpiexec(&["-n", "2", "RANK", "1@raw=hello there", "hold"])
        .run()
        .expect(1);
    assert!(
        outcome.stderr.contains("rank 1") && outcome.stderr.contains("hello there"),
        "{}",
        outcome.stderr
    );
    let endless = "x".repeat(100_000);
    let outcome = mpiexec(&["RANK", &format!("raw={endless}"), "hold"])
        .run()
        .expect(1);
    assert!(outcome.stderr.contains("without end"), "{}", outcome.stderr);
}

#[test]
fn unknown_commands_and_spawn_are_refused_and_told() {
    let arguments = [
        "-v",
        "RANK",
        "raw=cmd=dance",
        "raw=mcmd=spawn",
        "raw=endcmd",
        "sleep=100",
    ];
    let outcome = mpiexec(&arguments).run().expect(0);
    assert!(
        outcome.stderr.contains("unknown PMI command `dance`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("MPI_Comm_spawn"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_connection_closed_too_early_is_noticed() {
    // The rank lives on, and nobody would ever hear of it again.
    let outcome = mpiexec(&[
        "-n",
        "2",
        "RANK",
        "raw=cmd=init pmi_version=1 pmi_subversion=1",
        "0@close",
        "hold",
    ]);
    let outcome = outcome.run().expect(1);
    assert!(
        outcome.stderr.contains("rank 0") && outcome.stderr.contains("without calling"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_dead_program_under_a_living_wrapper_is_noticed() {
    let script = format!("{} init fence 1@kill=9 hold; sleep 60", rank_program());
    let outcome = mpiexec(&["-n", "2", "sh", "-c", &script]).run().expect(1);
    assert!(
        outcome.stderr.contains("rank 1") && outcome.stderr.contains("without calling"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn ranks_that_ignore_sigterm_are_killed() {
    let folder = Folder::new();
    let script =
        "trap '' TERM; [ $PMI_RANK = 1 ] && touch ready; until [ -e ready ]; do sleep 0.02; done
        [ $PMI_RANK = 0 ] && exit 3; sleep 600";
    let outcome = mpiexec(&["-n", "2", "sh", "-c", script]).directory(&folder.0);
    let outcome = outcome.run().expect(3);
    assert!(outcome.time > AT_ONCE, "they had no time to clean up");
}

#[test]
fn what_ranks_leave_running_ends_with_the_job() {
    let folder = Folder::new();
    let stubborn = folder.script(
        "stubborn",
        "#!/bin/sh\ntrap '' TERM HUP\nsleep 61 & wait; sleep 61\n",
    );
    let script = format!(
        "sleep 60 & setsid sleep 60 & {stubborn} & (setsid sh -c 'sleep 60; true' &) ; echo started"
    );
    let outcome = mpiexec(&["-n", "2", "-l", "sh", "-c", &script])
        .run()
        .expect(0);
    assert_eq!(outcome.sorted_lines(), ["[0] started", "[1] started"]);
}

#[test]
fn nothing_outlives_a_killed_mpiexec() {
    // Wrapped, so that the kernel's own notice to direct children is not enough; one rank in a session of its own.
    let script = format!(
        "[ $PMI_RANK = 1 ] && exec setsid -w {0} init fence hold; {0} init fence hold; true",
        rank_program()
    );
    let running = mpiexec(&["-n", "3", "sh", "-c", &script]).start();
    running.wait_until(|processes| ranks(processes) == 3);
    running.signal(libc::SIGKILL);
    running.finish().expect(128 + libc::SIGKILL);
}

#[test]
fn a_job_within_a_job_dies_with_the_outer_one() {
    let inner = format!(
        "{} -n 2 sh -c '{} init fence hold; true'; true",
        env!("CARGO_BIN_EXE_mpiexec"),
        rank_program()
    );
    let running = mpiexec(&["-n", "2", "sh", "-c", &inner]).start();
    running.wait_until(|processes| ranks(processes) == 4);
    running.signal(libc::SIGKILL);
    running.finish().expect(128 + libc::SIGKILL);
}

#[test]
fn a_timeout_asks_every_rank_what_it_waits_for() {
    let arguments = [
        "--timeout",
        "1",
        "-n",
        "4",
        "RANK",
        "3@hold",
        "init",
        "2@finalize",
        "2@hold",
        "0@report",
        "hold",
    ];
    at_least_once(|| {
        let outcome = mpiexec(&arguments).run().expect(124);
        for words in [
            "has not ended within 1 s",
            "waits for a message",
            "rank 1 (pid ",
            "its MPI library does not report",
            "has called MPI_Finalize",
            "has not called MPI_Init",
        ] {
            demand(outcome.stderr.contains(words), &outcome.stderr)?;
        }
        let reports = outcome.stderr.matches("waits for a message").count();
        demand(reports == 1, &outcome.stderr)
    });
    mpiexec(&["--timeout", "60", "true"]).run().expect(0);
}

#[test]
fn a_timeout_says_for_whom_a_fence_waits() {
    let arguments = [
        "--timeout",
        "0.5",
        "-n",
        "3",
        "RANK",
        "init",
        "1@hold",
        "fence",
    ];
    let outcome = mpiexec(&arguments).run().expect(124);
    let words = "mpiexec: 2 ranks here wait in MPI_Init or MPI_Finalize for rank 1 (pid ";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

#[test]
fn a_timeout_does_not_wait_for_reports_that_nobody_gives() {
    at_least_once(|| {
        let silent = ["--timeout", "0.2", "-n", "2", "sleep", "600"];
        let time = mpiexec(&silent).run().expect(124).time;
        demand(time < AT_ONCE, &format!("{time:?}"))
    });
}

#[test]
fn a_wrapped_program_is_asked_too() {
    let script = format!("{} report init hold; true", rank_program());
    at_least_once(|| {
        let job = mpiexec(&["--timeout", "1", "sh", "-c", &script]);
        let told = job.run().expect(124).stderr;
        demand(told.contains("waits for a message"), &told)
    });
}

#[test]
fn a_signal_asks_without_ending_the_job() {
    let folder = Folder::new();
    let running = mpiexec(&[
        "-n",
        "2",
        "-v",
        "RANK",
        "report",
        "init",
        "fence",
        "say=ready",
        "until=over",
        "finalize",
    ]);
    let running = running.directory(&folder.0).start();
    running.wait_for_output("ready", 2);
    running.signal(libc::SIGUSR2);
    running.wait_for_error("waits for a message", 2);
    folder.write("over", "");
    let outcome = running.finish().expect(0);
    assert_eq!(
        outcome.stderr.matches("waits for a message").count(),
        2,
        "{}",
        outcome.stderr
    );
}

#[test]
fn signals_go_on_to_every_rank() {
    for (signal, name) in [
        (libc::SIGINT, "INT"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGHUP, "HUP"),
        (libc::SIGUSR1, "USR1"),
    ] {
        let script =
            format!("trap 'echo got; exit 0' {name}; echo ready; while :; do sleep 0.02; done");
        let running = mpiexec(&["-n", "3", "sh", "-c", &script]).start();
        running.wait_for_output("ready", 3);
        running.signal(signal);
        assert_eq!(running.finish().expect(0).stdout.matches("got").count(), 3);
    }
}

#[test]
fn an_interrupted_job_says_so_once() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let running = mpiexec(&["-n", "4", "RANK", "init", "fence", "say=ready", "hold"]).start();
        running.wait_for_output("ready", 4);
        running.signal(signal);
        let outcome = running.finish().expect(128 + signal);
        assert!(
            outcome.stderr.contains("the job is ended by signal")
                && outcome.stderr.lines().count() == 1
        );
    }
}

#[test]
fn a_second_interrupt_kills() {
    let script = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done";
    at_least_once(|| {
        let running = mpiexec(&["-v", "-n", "2", "sh", "-c", script]).start();
        running.wait_for_output("ready", 2);
        running.signal(libc::SIGINT);
        running.wait_for_error("signal 2 (Interrupt) goes on", 1);
        running.signal(libc::SIGINT);
        let begin = Instant::now();
        let outcome = running.finish().expect(130);
        assert!(outcome.stderr.contains("interrupted again"));
        let time = begin.elapsed();
        demand(time < AT_ONCE, &format!("a grace time: {time:?}"))
    });
}

#[test]
fn ranks_that_ignore_a_request_to_end_are_killed() {
    let script = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done";
    let jobs = [libc::SIGINT, libc::SIGTERM].map(|signal| {
        let running = mpiexec(&["-n", "2", "sh", "-c", script]).start();
        running.wait_for_output("ready", 2);
        running.signal(signal);
        (signal, running)
    });
    for (signal, running) in jobs {
        let outcome = running.finish().expect(128 + signal);
        assert!(
            outcome.stderr.starts_with("mpiexec: 2 s after signal ")
                && outcome.stderr.ends_with("every rank is killed\n")
                && outcome.stderr.lines().count() == 1,
            "{}",
            outcome.stderr
        );
        assert!(outcome.time > AT_ONCE, "they had no time to clean up");
    }
}

#[test]
fn a_request_that_the_starter_has_blocked_arrives() {
    let running = mpiexec(&["-n", "2", "sh", "-c", "echo ready; sleep 1000 & wait"])
        .blocking(libc::SIGTERM)
        .start();
    running.wait_for_output("ready", 2);
    running.signal(libc::SIGTERM);
    let outcome = running.finish().expect(128 + libc::SIGTERM);
    assert!(
        outcome.stderr.contains("the job is ended by signal 15"),
        "the ranks did not end by it: {}",
        outcome.stderr
    );
}

#[test]
fn an_ignored_signal_stays_so() {
    let folder = Folder::new();
    let script = "echo ready; until [ -e over ]; do sleep 0.02; done";
    let running = mpiexec(&["-v", "-n", "2", "sh", "-c", script])
        .ignoring(libc::SIGHUP)
        .directory(&folder.0)
        .start();
    running.wait_for_output("ready", 2);
    running.signal(libc::SIGHUP);
    // A signal that is read comes after all that were sent before.
    running.signal(libc::SIGUSR2);
    running.wait_for_error("has not called MPI_Init", 2);
    folder.write("over", "");
    let told = running.finish().expect(0).stderr;
    assert!(!told.contains("goes on to every rank"), "{told}");
}

#[test]
fn the_end_does_not_wait_for_a_reader_that_does_not_read() {
    let script = "i=0; while [ $i -lt 5000 ]; do echo $i 0123456789012345678901234567890123456789; \
        i=$((i+1)); done; echo >>$PMI_RANK; sleep 60 & wait";
    let limited = mpiexec(&["-n", "2", "-l", "--timeout", "0.5", "sh", "-c", script]);
    let ended = mpiexec(&["-n", "2", "-l", "sh", "-c", script]);
    let jobs = [ended, limited].map(|job| {
        let folder = Folder::new();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        (
            job.both_to(&writer).directory(&folder.0).start(),
            folder,
            reader,
        )
    });
    let (running, folder, _) = &jobs[0];
    let has_printed = |rank| folder.0.join(rank).exists();
    running.wait_until(|_| has_printed("0") && has_printed("1"));
    running.signal(libc::SIGTERM);
    for ((running, ..), code) in jobs.into_iter().zip([143, 124]) {
        running.finish().expect(code);
    }
}

#[test]
fn a_stopped_job_stops_and_goes_on() {
    let folder = Folder::new();
    let running = mpiexec(&[
        "-n",
        "2",
        "RANK",
        "init",
        "fence",
        "say=ready",
        "until=over",
        "fence",
        "finalize",
    ]);
    let running = running.directory(&folder.0).start();
    running.wait_for_output("ready", 2);
    running.signal(libc::SIGTSTP);
    // Two ranks and mpiexec; the watchdog goes on.
    running.wait_until(|processes| {
        processes
            .iter()
            .filter(|process| process.state == 'T')
            .count()
            == 3
    });
    folder.write("over", "");
    running.signal(libc::SIGCONT);
    running.finish().expect(0);
}

#[test]
fn an_idle_job_uses_no_cpu() {
    let folder = Folder::new();
    let running = mpiexec(&[
        "-n",
        "4",
        "-l",
        "--timeout",
        "100",
        "RANK",
        "init",
        "fence",
        "say=ready",
        "until=over",
        "finalize",
    ]);
    let running = running.directory(&folder.0).start();
    let is_launcher = |process: &&Process| process.command == "mpiexec";
    let ticks = |processes: Vec<Process>| {
        let launcher = processes.iter().find(is_launcher);
        launcher.expect("mpiexec runs").ticks
    };
    running.wait_for_output("ready", 4);
    let at_rest = |processes: &[Process]| {
        let launcher = processes.iter().find(is_launcher);
        launcher.is_some_and(|launcher| launcher.state == 'S')
    };
    std::thread::sleep(Duration::from_millis(200));
    let before = ticks(running.wait_until(at_rest));
    std::thread::sleep(Duration::from_millis(700));
    let after = ticks(running.wait_until(at_rest));
    assert_eq!(after, before);
    folder.write("over", "");
    running.finish().expect(0);
}

#[test]
fn output_that_nobody_reads_any_more_ends_the_job() {
    let mpiexec = env!("CARGO_BIN_EXE_mpiexec");
    let script = format!("{mpiexec} -n 2 -l yes 2>/dev/null | head -n 2; echo done");
    let outcome = common::mpiexec(&["sh", "-c", &script]).run().expect(0);
    assert_eq!(outcome.stdout.lines().count(), 3);
}

#[test]
fn a_launcher_whose_starter_ignores_children_still_sees_its_own() {
    mpiexec(&["-n", "2", "sh", "-c", "exit 3"])
        .ignoring(libc::SIGCHLD)
        .run()
        .expect(3);
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let mpiexec = env!("CARGO_BIN_EXE_mpiexec");
    // Its reader is gone before mpiexec says anything.
    let script = format!(
        "exec 3>&1; {{ sleep 0.3; {mpiexec} -v -n 2 sh -c 'sleep 0.1; exit 4' 2>&1 3>&-; echo $? >&3; }} | true"
    );
    let outcome = common::mpiexec(&["sh", "-c", &script]).run().expect(0);
    assert_eq!(outcome.stdout, "4\n");
}
