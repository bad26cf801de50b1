//! Jobs on several hosts, all of which are this machine: agents are started by a fork, or by a script in ssh's place.

mod common;

use common::{Folder, Process, Running, WATCHDOG_TIME, at_least_once, demand, mpiexec};
use std::time::Duration;

/// Three ranks on two hosts.
fn on_two(arguments: &[&str]) -> common::Mpiexec {
    mpiexec(
        &[
            &["-launcher", "fork", "-hosts", "a:2,b", "-n", "3"],
            arguments,
        ]
        .concat(),
    )
}

/// Agents among the processes of a job.
fn agents(running: &Running, processes: &[Process]) -> Vec<i32> {
    let own = running.child.id() as i32;
    let agents = processes
        .iter()
        .filter(|process| process.command == "mpiexec" && process.pid != own);
    agents.map(|process| process.pid).collect()
}

fn sleepers(processes: &[Process]) -> usize {
    processes
        .iter()
        .filter(|process| process.command == "sleep")
        .count()
}

/// What ranks do that are to be ended.
const SLEEP: &str = "echo ready; exec sleep 1000";

/// The agents of a job as soon as all its ranks sleep; none if the job is over before. A process
/// that mpiexec or an agent has just forked has its name until it takes another.
fn agents_of_sleepers(running: &Running, hosts: usize, ranks: usize) -> Vec<i32> {
    let processes = running.wait_until(|all| {
        all.is_empty() || (sleepers(all) == ranks && agents(running, all).len() == hosts)
    });
    agents(running, &processes)
}

/// Waits until all three ranks sleep and mpiexec has heard of it.
fn wait_for_sleepers(running: &Running) -> Vec<i32> {
    running.wait_for_output("ready", 3);
    let agents = agents_of_sleepers(running, 2, 3);
    assert_eq!(agents.len(), 2, "the job is over");
    agents
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: no pointers; the process is one of the job that this test has started.
    unsafe {
        libc::kill(pid, signal);
    }
}

#[test]
fn ranks_know_their_place_among_hosts() {
    let show = "echo $PMI_RANK of $PMI_SIZE, $MPI_LOCALRANKID of $MPI_LOCALNRANKS";
    let lines = mpiexec(&[
        "-launcher",
        "fork",
        "-hosts",
        "a:2,b",
        "-n",
        "4",
        "sh",
        "-c",
        show,
    ]);
    let lines = lines.run().expect(0).sorted_lines();
    assert_eq!(
        lines,
        [
            "0 of 4, 0 of 3",
            "1 of 4, 1 of 3",
            "2 of 4, 0 of 1",
            "3 of 4, 2 of 3"
        ]
    );
}

#[test]
fn cards_cross_hosts() {
    let outcome = on_two(&["RANK", "init", "job", "cards", "fence", "cards", "finalize"])
        .run()
        .expect(0);
    assert_eq!(outcome.stdout.matches("read 3 cards").count(), 6);
    assert!(
        outcome.stdout.contains("local_ranks: [0, 1]")
            && outcome.stdout.contains("local_ranks: [2]")
    );
    assert_eq!(outcome.stderr, "");
}

/// 40 hosts: some agents start others.
#[test]
fn agents_start_agents() {
    let hosts: Vec<String> = (0..40).map(|host| format!("h{host}")).collect();
    let hosts = hosts.join(",");
    let by_fork = ["-launcher", "fork", "-hosts", &hosts];
    let outcome = mpiexec(&[&by_fork[..], &["RANK", "init", "cards", "finalize"]].concat());
    assert_eq!(outcome.run().expect(0).stdout, "read 40 cards\n".repeat(40));
    let running = mpiexec(&[&by_fork[..], &["sleep", "1000"]].concat()).start();
    let agents = agents_of_sleepers(&running, 40, 40);
    assert_eq!(agents.len(), 40);
    signal(agents[17], libc::SIGKILL);
    let outcome = running.finish().expect(1);
    assert!(
        outcome.stderr.contains("the connection to host h"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_first_failing_rank_decides_wherever_it_is() {
    for (actions, code, named) in [
        (&["RANK", "2@exit=3", "hold"][..], 3, "rank 2"),
        (&["RANK", "2@kill=9", "hold"], 137, "was killed by signal 9"),
        (
            &["RANK", "init", "2@abort=7", "hold"],
            7,
            "called MPI_Abort with code 7",
        ),
        (
            &["RANK", "init", "0@exit=0", "hold"],
            1,
            "without calling MPI_Finalize",
        ),
        (
            &["RANK", "init", "2@finalize", "2@exit=0", "fence"],
            1,
            "waits for it",
        ),
        (&["/nonexistent/program"], 127, "there is no program"),
    ] {
        let outcome = on_two(actions).run().expect(code);
        let problems = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("mpiexec: "));
        let problems: Vec<&str> = problems.collect();
        assert!(
            problems.len() == 1 && problems[0].contains(named),
            "{actions:?}: {}",
            outcome.stderr
        );
        assert!(outcome.time < Duration::from_secs(30), "{actions:?}");
    }
}

/// Rank 0 aborts because of the death of rank 2 on another host, and may be heard of first.
#[test]
fn a_death_on_another_host_is_told_rather_than_its_consequence() {
    let outcome = on_two(&[
        "RANK",
        "init",
        "pids",
        "2@open=200",
        "0@mourn=2",
        "2@kill=9",
        "hold",
    ]);
    let outcome = outcome.run().expect(137);
    assert!(
        outcome.stderr.contains("rank 2 (") && outcome.stderr.contains("signal 9"),
        "{}",
        outcome.stderr
    );
}

/// Rank 0 ends as ranks do that have lost another, and mpiexec hears of it first.
#[test]
fn the_code_of_a_lost_peer_yields_to_what_ended_the_peer() {
    let folder = Folder::new();
    let script = "[ $PMI_RANK = 2 ] || { touch lost.$PMI_RANK; exit 58; }
        until [ -e lost.0 ] && [ -e lost.1 ]; do sleep 0.01; done; sleep 0.05; exit 7";
    let outcome = on_two(&["sh", "-c", script]).directory(&folder.0);
    let outcome = outcome.run().expect(7);
    assert!(
        outcome.stderr.contains("rank 2 ") && outcome.stderr.contains("code 7"),
        "{}",
        outcome.stderr
    );
    let alone = on_two(&["sh", "-c", "[ $PMI_RANK = 2 ] && exit 58; sleep 600"]);
    alone.run().expect(58);
}

#[test]
fn output_of_all_hosts_comes_whole() {
    let count = "seq 1 20000; echo $PMI_RANK >&2";
    let outcome = on_two(&["-l", "sh", "-c", count]).run().expect(0);
    assert_eq!(outcome.stdout.lines().count(), 60_000);
    for rank in 0..3 {
        let prefix = format!("[{rank}] ");
        let numbers = outcome
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix));
        assert!(
            numbers.eq((1..=20_000).map(|number| number.to_string())),
            "rank {rank}"
        );
        assert!(outcome.stderr.contains(&format!("[{rank}] {rank}\n")));
    }
    let raw = on_two(&["sh", "-c", "printf abc"]).run().expect(0);
    assert_eq!(raw.stdout, "abcabcabc");
}

#[test]
fn output_goes_to_files_here() {
    let folder = Folder::new();
    let path = folder.0.to_str().unwrap();
    on_two(&[
        "--output-dir",
        path,
        "sh",
        "-c",
        "echo $PMI_RANK; echo e >&2",
    ])
    .run()
    .expect(0);
    for rank in 0..3 {
        assert_eq!(
            folder.read(&format!("rank.{rank}.out")),
            format!("{rank}\n")
        );
        assert_eq!(folder.read(&format!("rank.{rank}.err")), "e\n");
    }
}

/// A reader that takes nothing holds up neither news of a failure nor the end of the ranks.
#[test]
fn a_reader_that_does_not_read_does_not_keep_ranks() {
    let folder = Folder::new();
    let print = "[ $PMI_RANK = 2 ] || exec yes; until [ -e over ]; do sleep 0.02; done; exit 5";
    let (reader, writer) = std::io::pipe().unwrap();
    let running = on_two(&["sh", "-c", print])
        .directory(&folder.0)
        .stdout_to(writer)
        .start();
    running.wait_until(|processes| processes.iter().any(|process| process.command == "yes"));
    // The ways that output takes fill.
    std::thread::sleep(Duration::from_millis(500));
    folder.write("over", "");
    running.wait_until(|processes| processes.iter().all(|process| process.command != "yes"));
    drop(reader);
    let outcome = running.finish().expect(5);
    assert!(
        outcome.stderr.contains("exited with code 5"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn standard_input_reaches_whom_it_is_for() {
    let text: String = (0..50_000).map(|line| format!("{line}\n")).collect();
    let count = "echo $PMI_RANK $(wc -c)";
    let all = text.len();
    for (who, sizes) in [
        ("0", [all, 0, 0]),
        ("2", [0, 0, all]),
        ("all", [all; 3]),
        ("none", [0; 3]),
    ] {
        let outcome = on_two(&["--stdin", who, "sh", "-c", count])
            .input(text.clone())
            .run()
            .expect(0);
        let expected: Vec<String> = (0..3)
            .map(|rank| format!("{rank} {}", sizes[rank]))
            .collect();
        assert_eq!(outcome.sorted_lines(), expected, "--stdin {who}");
    }
    // Those that do not read it end all the same.
    on_two(&["--stdin", "all", "true"])
        .input(text)
        .run()
        .expect(0);
}

#[test]
fn signals_reach_every_rank() {
    let running = on_two(&["sh", "-c", SLEEP]).start();
    wait_for_sleepers(&running);
    running.signal(libc::SIGTERM);
    let outcome = running.finish().expect(143);
    assert!(
        outcome.stderr.contains("the job is ended by signal 15"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_second_interrupt_kills_ranks_that_ignore_the_first() {
    let running = on_two(&["-v", "sh", "-c", "trap '' INT TERM; echo ready; sleep 1000"]).start();
    wait_for_sleepers(&running);
    running.signal(libc::SIGINT);
    running.wait_for_error("signal 2 (Interrupt) goes on", 1);
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect(130);
    assert!(outcome.stderr.contains("interrupted again"));
}

#[test]
fn ranks_that_ignore_a_request_to_end_are_killed() {
    let running = on_two(&["sh", "-c", "trap '' TERM; echo ready; sleep 1000"]).start();
    wait_for_sleepers(&running);
    running.signal(libc::SIGTERM);
    let outcome = running.finish().expect(143);
    assert!(
        outcome.stderr.contains("2 s after signal 15") && outcome.stderr.lines().count() == 1,
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_stopped_job_is_not_taken_for_a_lost_one() {
    let wait = "echo ready; until [ -e over ]; do sleep 0.02; done";
    at_least_once(|| {
        let folder = Folder::new();
        let running = on_two(&["--host-timeout", "2", "sh", "-c", wait])
            .directory(&folder.0)
            .start();
        if running.has_output("ready", 3).is_ok() {
            running.signal(libc::SIGTSTP);
            running.wait_until(|processes| {
                let ranks = processes.iter().filter(|process| process.command == "sh");
                processes.is_empty() || ranks.filter(|rank| rank.state == 'T').count() == 3
            });
            std::thread::sleep(Duration::from_secs(4));
            folder.write("over", "");
            running.signal(libc::SIGCONT);
        }
        // Of a try whose host was lost, which it is where the machine is busy, watchdogs end what is left.
        let outcome = running.finish_within(Duration::from_secs(20));
        demand(outcome.code() == 0, &outcome.stderr)
    });
}

#[test]
fn a_killed_agent_ends_the_job_and_is_named() {
    let running = on_two(&["sh", "-c", "echo ready; sleep 1000 & wait"]).start();
    let agents = wait_for_sleepers(&running);
    signal(agents[0], libc::SIGKILL);
    let outcome = running.finish().expect(1);
    assert!(
        outcome.stderr.contains("the connection to host "),
        "{}",
        outcome.stderr
    );
}

#[test]
fn nothing_stays_when_mpiexec_is_killed() {
    let running = on_two(&["sh", "-c", "trap '' TERM; echo ready; sleep 1000 & wait"]).start();
    wait_for_sleepers(&running);
    running.signal(libc::SIGKILL);
    running.finish().expect(137);
}

#[test]
fn a_silent_host_is_given_up() {
    let running = on_two(&["--host-timeout", "2", "sh", "-c", SLEEP]).start();
    // A machine may be so busy that a host is given up before.
    if let [_, agent] = agents_of_sleepers(&running, 2, 3)[..] {
        signal(agent, libc::SIGSTOP);
    }
    let outcome = running.finish().expect(1);
    let named = "nothing has been heard from there for 2 s";
    assert!(outcome.stderr.contains(named), "{}", outcome.stderr);
}

/// Starts an agent that mpiexec does not end by ending what has started it, as it is with ssh.
const AWAY: &str = r#"#!/bin/sh
shift
exec setsid -w sh -c "$*"
"#;

/// A stopped agent cannot see that mpiexec has given its host up.
#[test]
fn the_ranks_of_a_stopped_agent_end() {
    let folder = Folder::new();
    let away = folder.script("away", AWAY);
    let hosts = ["-launcher-exec", &away, "-hosts", "a:2,b", "-n", "3"];
    let job = ["--host-timeout", "2", "sh", "-c", SLEEP];
    let running = mpiexec(&[&hosts[..], &job].concat()).start();
    for agent in agents_of_sleepers(&running, 2, 3) {
        signal(agent, libc::SIGSTOP);
    }
    let outcome = running.finish_within(WATCHDOG_TIME).expect(1);
    let named = "nothing has been heard from there for 2 s";
    assert!(outcome.stderr.contains(named), "{}", outcome.stderr);
}

#[test]
fn a_timeout_has_all_ranks_report() {
    at_least_once(|| {
        let outcome = on_two(&["--timeout", "1.5", "RANK", "report", "init", "hold"]);
        let told = outcome.run().expect(124).stderr;
        demand(told.matches("waits for a message").count() == 3, &told)
    });
}

/// What ssh would do, on this machine; hosts named in the first argument fail in their ways.
const SSH: &str = r#"#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in
    away) echo "warning: noise" >&2; echo "ssh: connect to host away port 22: Connection refused" >&2; exit 255;;
    bare) echo "sh: 1: mpiexec: not found" >&2; exit 127;;
    mute) exec sleep 1000;;
    never) echo "ssh: Could not resolve hostname never: Name or service not known" >&2; exit 255;;
    chatty) echo "Welcome to this host"; exec sh -c "$*";;
    liar) echo "I am no agent"; exit 0;;
    old) printf '\0weft-agent 1 0.0\n'; exec sleep 1000;;
esac
exec sh -c "$*"
"#;

#[test]
fn hosts_that_cannot_be_used_are_named_with_the_reason() {
    let folder = Folder::new();
    let ssh = folder.script("ssh", SSH);
    let on = |host: &str, seconds: &str, script: &str| {
        let hosts = format!("fine,{host}");
        let arguments = [
            "-launcher",
            "ssh",
            "-launcher-exec",
            &ssh,
            "-hosts",
            &hosts,
            "--launch-timeout",
            seconds,
        ];
        mpiexec(&[&arguments[..], &["-n", "2", "sh", "-c", script]].concat()).run()
    };
    for (host, named) in [
        (
            "away",
            "host away cannot be reached: ssh: connect to host away port 22: Connection refused; the job",
        ),
        ("bare", "host bare has no "),
        ("mute", "host mute: nothing has answered within 3 s"),
        (
            "liar",
            "host liar cannot be reached: ssh ended with code 0: I am no agent",
        ),
        ("old", "host old: mpiexec there is of version 0.0"),
    ] {
        let seconds = if host == "mute" { "3" } else { "60" };
        let outcome = on(host, seconds, "sleep 600").expect(1);
        assert!(
            outcome.stderr.contains(named) && outcome.stderr.lines().count() == 1,
            "{host}: {}",
            outcome.stderr
        );
    }
    let never = on("never", "3", "sleep 600").expect(1).stderr;
    let unknown = "ssh: Could not resolve hostname never: Name or service not known";
    let lines = [
        format!("mpiexec: host never: {unknown}; it is tried again for 3 s (--launch-timeout)"),
        format!("mpiexec: host never cannot be reached: {unknown}; the job is ended"),
    ];
    assert!(never.lines().eq(lines.iter()), "{never}");
    let chatty = on("chatty", "60", "echo ran").expect(0);
    assert_eq!(chatty.stdout, "ran\nran\n");
}

/// As containers that come up one after the other: the host answers at the third try, and its ranks miss nothing of the input.
#[test]
fn a_name_that_means_nothing_yet_is_tried_again() {
    let folder = Folder::new();
    let script = r#"#!/bin/sh
shift
echo >>"$0.tries"
if [ "$(wc -l <"$0.tries")" -lt 3 ]; then
    echo "ssh: Could not resolve hostname late: Name or service not known" >&2
    exit 255
fi
exec sh -c "$*"
"#;
    let ssh = folder.script("late", script);
    let input = folder.write("input", "what is there");
    let hosts = ["-launcher-exec", &ssh, "-hosts", "late", "-n", "2"];
    let job = mpiexec(&[&hosts[..], &["--stdin", "all", "cat"]].concat());
    let job = job.stdin(std::fs::File::open(input).unwrap());
    let outcome = job.run().expect(0);
    assert_eq!(outcome.stdout, "what is therewhat is there");
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    // Nobody waits for a host whose job has ended.
    let ssh = folder.script("never", &script.replace("-lt 3", "-lt 300"));
    let hosts = ["-launcher-exec", &ssh, "-hosts", "late,late", "-n", "2"];
    let running = mpiexec(&[&hosts[..], &["true"]].concat()).start();
    running.wait_for_error("tried again", 1);
    running.signal(libc::SIGTERM);
    running.finish().expect(143);
}

#[test]
fn a_dry_run_says_which_rank_runs_where() {
    let outcome = mpiexec(&["-hosts", "a:2,b", "-n", "3", "--dry-run", "./p", "x y"])
        .run()
        .expect(0);
    let expected = "rank 0: on a: ./p 'x y'\nrank 1: on a: ./p 'x y'\nrank 2: on b: ./p 'x y'\n";
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn variables_of_the_environment_name_hosts_and_launchers() {
    let folder = Folder::new();
    let file = folder.write("hosts", "# two hosts\na:2\nb slots=1\n");
    let outcome = mpiexec(&["--dry-run", "p"])
        .env("HYDRA_HOST_FILE", &file)
        .run()
        .expect(0);
    assert_eq!(
        outcome.stdout,
        "rank 0: on a: p\nrank 1: on a: p\nrank 2: on b: p\n"
    );
    let ssh = folder.script("remote", "#!/bin/sh\necho \"$@\" >>\"$0.log\"; exit 255\n");
    let job = mpiexec(&["-launcher-exec", &ssh, "-hosts", "x", "true"]);
    job.env("HYDRA_LAUNCH_EXTRA_ARGS", "-o ConnectionAttempts=10")
        .run()
        .expect(1);
    let log = folder.read("remote.log");
    assert!(
        log.starts_with("-o ConnectionAttempts=10 x ") && log.ends_with(" --agent\n"),
        "{log}"
    );
    let wrong = mpiexec(&["p"])
        .env("SLURM_JOB_NODELIST", "n[1")
        .run()
        .expect(2);
    assert!(
        wrong.stderr.starts_with("mpiexec: SLURM_JOB_NODELIST: "),
        "{}",
        wrong.stderr
    );
}
