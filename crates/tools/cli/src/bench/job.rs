//! Running one command: its lines as they come, a limit on its silence, and nothing of it left behind.
//!
//! The command runs in a process group of its own, so that it can be asked to end whole. Launchers put their ranks
//! into further groups and may die before them; all are found by a mark in their environment, and killed if they do
//! not end. Killed MPI programs leave their files in /dev/shm: those that the job had mapped are removed.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::mark::Mark;

const POLL: Duration = Duration::from_millis(50);
/// Between asking a job to end and killing it.
const GRACE: Duration = Duration::from_secs(2);
const STDERR_KEPT_BYTES: usize = 4096;

#[derive(Debug)]
pub enum End {
    Exited(ExitStatus),
    /// It printed nothing for longer than it may, and was stopped.
    Silent,
    /// The user stopped us.
    Interrupted,
}

#[derive(Debug)]
pub struct Outcome {
    pub end: End,
    /// From before the start of the process until it was waited for.
    pub wall: Duration,
    /// The end of what it wrote to standard error.
    pub complaint: String,
}

/// How long a job may be silent.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until its first line.
    pub start: Duration,
    /// Between lines, and from the last one to its end.
    pub line: Duration,
}

/// Runs `command`, gives each line of its standard output to `on_line`, and stops it when it has been silent for
/// longer than `patience`.
pub fn run(
    mut command: Command,
    patience: Patience,
    mut on_line: impl FnMut(&str),
) -> io::Result<Outcome> {
    let interrupted = interruption()?;
    let mark = Mark::new();
    mark.put_on(&mut command);
    let begin = Instant::now();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    let complaint = thread::spawn({
        let stderr = child.stderr.take();
        move || stderr.map_or(String::new(), last_bytes)
    });
    let lines = lines_of(&mut child);
    let stopped = follow(&mut child, &lines, patience, &interrupted, &mut on_line)?;
    let end = match stopped {
        Some(end) => {
            stop(&mut child, &mark)?;
            end
        }
        None => End::Exited(child.wait()?),
    };
    let wall = begin.elapsed();
    Ok(Outcome {
        end,
        wall,
        complaint: complaint.join().unwrap_or_default(),
    })
}

/// Set once by SIGINT and SIGTERM, which must not end us before our job: it would live on.
fn interruption() -> io::Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(flag.clone());
    }
    let flag = FLAG.get_or_init(Arc::default).clone();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, flag.clone())?;
    }
    Ok(flag)
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

fn last_bytes(mut from: impl Read) -> String {
    let (mut kept, mut part) = (Vec::new(), [0; 1024]);
    while let Ok(n @ 1..) = from.read(&mut part) {
        kept.extend_from_slice(&part[..n]);
        kept.drain(..kept.len().saturating_sub(STDERR_KEPT_BYTES));
    }
    String::from_utf8_lossy(&kept).trim().to_string()
}

/// Passes lines on until the output ends (`None`) or the job has to be stopped.
fn follow(
    child: &mut Child,
    lines: &Receiver<String>,
    patience: Patience,
    interrupted: &AtomicBool,
    on_line: &mut impl FnMut(&str),
) -> io::Result<Option<End>> {
    let (mut last, mut silence) = (Instant::now(), patience.start);
    loop {
        match lines.recv_timeout(POLL) {
            Ok(line) => {
                (last, silence) = (Instant::now(), patience.line);
                on_line(&line);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupted.load(Ordering::Relaxed) {
            return Ok(Some(End::Interrupted));
        }
        if last.elapsed() > silence {
            return Ok(Some(End::Silent));
        }
        // Something it left behind holds its output open: the job itself is over.
        if child.try_wait()?.is_some() && last.elapsed() > GRACE {
            return Ok(None);
        }
    }
}

/// Asks the job to end, kills what has not ended in time, and removes its shared files.
fn stop(child: &mut Child, mark: &Mark) -> io::Result<()> {
    let group = Pid::from_raw(child.id().cast_signed());
    let files = mark.shared_files();
    let _ = killpg(group, Signal::SIGTERM);
    let asked = Instant::now();
    while asked.elapsed() < GRACE && (child.try_wait()?.is_none() || !mark.processes().is_empty()) {
        thread::sleep(POLL);
    }
    // Again, for what was being started while we looked.
    while asked.elapsed() < 2 * GRACE {
        let left = mark.processes();
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
        }
        child.try_wait()?;
        thread::sleep(POLL);
    }
    for file in files {
        let _ = fs::remove_file(file);
    }
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_seconds(seconds: f64) -> Patience {
        let line = Duration::from_secs_f64(seconds);
        Patience { start: line, line }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_status_and_complaint_come_back() {
        let mut lines = Vec::new();
        let outcome = run(
            shell("echo a; echo b; echo oops >&2; exit 3"),
            of_seconds(10.0),
            |l| {
                lines.push(l.to_string());
            },
        )
        .unwrap();
        assert_eq!(lines, ["a", "b"]);
        assert!(matches!(outcome.end, End::Exited(status) if status.code() == Some(3)));
        assert_eq!(outcome.complaint, "oops");
    }

    #[test]
    fn a_silent_job_is_stopped_with_its_children_in_other_groups() {
        let mut pid = String::new();
        // The grandchild leaves the group, as a launcher's ranks do, and ignores being asked to end.
        let script = "setsid sh -c 'trap \"\" TERM; echo $$; sleep 60 & wait; sleep 60'";
        let outcome = run(shell(script), of_seconds(1.0), |l| pid = l.to_string()).unwrap();
        assert!(matches!(outcome.end, End::Silent));
        let is_alive = fs::read(format!("/proc/{pid}/environ")).is_ok_and(|e| !e.is_empty());
        assert!(!is_alive, "{pid} lives");
    }
}
