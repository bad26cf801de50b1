//! Running mpiexec and seeing to it that nothing of a job stays.

#![allow(dead_code)] // Each test binary uses its part.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, PipeWriter, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Long enough for any test on a loaded machine; past it, the job is killed and the test fails.
const LIMIT: Duration = Duration::from_secs(90);

/// For watchdogs to do what they are there for.
pub const WATCHDOG_TIME: Duration = Duration::from_secs(20);

const MARK: &str = "WEFT_TEST_JOB";

pub fn rank_program() -> String {
    let mut path = std::env::current_exe().expect("this program has a path");
    path.pop();
    path.pop();
    path.join("examples/rank")
        .to_str()
        .expect("a path in UTF-8")
        .to_owned()
}

pub struct Outcome {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub time: Duration,
}

impl Outcome {
    pub fn code(&self) -> i32 {
        self.status
            .code()
            .unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Lines of standard output in an order that does not depend on the ranks' speed.
    pub fn sorted_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> Outcome {
        assert_eq!(
            self.code(),
            code,
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

pub struct Running {
    pub child: Child,
    mark: String,
    started: Instant,
    stdout: Collected,
    stderr: Collected,
}

/// What a stream has brought so far, and the thread that reads it to its end.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

pub struct Mpiexec {
    command: Command,
    mark: String,
    input: Vec<u8>,
}

/// mpiexec with these arguments; `RANK` among them stands for the test's rank program.
pub fn mpiexec(arguments: &[&str]) -> Mpiexec {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mark = format!(
        "{}-{}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpiexec"));
    let program = rank_program();
    command.args(arguments.iter().map(|argument| {
        if *argument == "RANK" {
            &program
        } else {
            *argument
        }
    }));
    // Whoever runs the tests may ignore signals (a shell does for what it starts in the background), and that would be
    // inherited.
    // SAFETY: between fork and exec, only system calls are made.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command
        .env(MARK, &mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Mpiexec {
        command,
        mark,
        input: Vec::new(),
    }
}

impl Mpiexec {
    pub fn env(mut self, name: &str, value: &str) -> Mpiexec {
        self.command.env(name, value);
        self
    }

    /// Further words of the command line.
    pub fn push(&mut self, words: &[&OsStr]) {
        self.command.args(words);
    }

    pub fn directory(mut self, directory: &PathBuf) -> Mpiexec {
        self.command.current_dir(directory);
        self
    }

    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Mpiexec {
        self.input = bytes.into();
        self
    }

    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Mpiexec {
        self.command.stdin(stdin);
        self
    }

    /// In place of being collected.
    pub fn stdout_to(mut self, stdout: impl Into<Stdio>) -> Mpiexec {
        self.command.stdout(stdout);
        self
    }

    /// mpiexec starts with this signal ignored.
    pub fn ignoring(mut self, signal: i32) -> Mpiexec {
        // SAFETY: between fork and exec, only a system call is made.
        unsafe {
            self.command.pre_exec(move || {
                libc::signal(signal, libc::SIG_IGN);
                Ok(())
            });
        }
        self
    }

    /// mpiexec starts with this signal blocked.
    pub fn blocking(mut self, signal: i32) -> Mpiexec {
        // SAFETY: between fork and exec, only system calls are made; `sigemptyset` initialises the set.
        unsafe {
            self.command.pre_exec(move || {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, signal);
                libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
                Ok(())
            });
        }
        self
    }

    /// mpiexec may have so many descriptors and no more.
    pub fn with_descriptors(mut self, count: u64) -> Mpiexec {
        let limit = libc::rlimit {
            rlim_cur: count,
            rlim_max: count,
        };
        // SAFETY: between fork and exec, only a system call is made, on a struct that lives in the closure.
        unsafe {
            self.command.pre_exec(move || {
                libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
                Ok(())
            });
        }
        self
    }

    /// mpiexec stops before its first instruction, for [`Running::held_at_start`].
    pub fn traced(mut self) -> Mpiexec {
        // SAFETY: between fork and exec, only a system call is made.
        unsafe {
            self.command.pre_exec(|| {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                Ok(())
            });
        }
        self
    }

    /// Its output and error together, in place of being collected.
    pub fn both_to(mut self, writer: &PipeWriter) -> Mpiexec {
        self.command.stdout(writer.try_clone().expect("a copy"));
        self.command.stderr(writer.try_clone().expect("a copy"));
        self
    }

    pub fn start(mut self) -> Running {
        let mut child = self.command.spawn().expect("mpiexec starts");
        if let Some(stdin) = child.stdin.take() {
            feed(stdin, self.input);
        }
        let stdout = Collected::of(child.stdout.take());
        let stderr = Collected::of(child.stderr.take());
        Running {
            child,
            mark: self.mark,
            started: Instant::now(),
            stdout,
            stderr,
        }
    }

    pub fn run(self) -> Outcome {
        self.start().finish()
    }
}

fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    // A job that does not read it all breaks the pipe, which is in order.
    thread::spawn(move || drop(stdin.write_all(&input)));
}

impl Collected {
    fn of<R: Read + Send + 'static>(stream: Option<R>) -> Collected {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = thread::spawn({
            let bytes = bytes.clone();
            move || {
                let mut piece = [0; 1 << 16];
                let Some(mut stream) = stream else { return };
                loop {
                    match stream.read(&mut piece) {
                        Ok(count @ 1..) => bytes.lock().unwrap().extend(&piece[..count]),
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        _ => return,
                    }
                }
            }
        });
        Collected { bytes, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// Waits until the text has come so many times; `Err` if the stream ends before.
    fn wait_for(&self, text: &str, times: usize) -> Result<(), String> {
        let until = Instant::now() + LIMIT;
        loop {
            let has_ended = self.reader.is_finished();
            let so_far = self.so_far();
            if so_far.matches(text).count() >= times {
                return Ok(());
            }
            if has_ended || until < Instant::now() {
                return Err(format!("`{text}` never came {times} times: {so_far}"));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn finish(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}

/// Runs it until all is well once, several times at most. For what has to be done within a time of mpiexec's own (to report, to
/// clean up, to show that one lives): a machine may be so busy that a process is not run for seconds, but not each time.
#[track_caller]
pub fn at_least_once(mut run: impl FnMut() -> Result<(), String>) {
    let mut last = Ok(());
    for _ in 0..5 {
        last = run();
        if last.is_ok() {
            return;
        }
    }
    panic!("each time: {last:?}");
}

/// `Err` with these words where the condition does not hold.
pub fn demand(condition: bool, words: &str) -> Result<(), String> {
    match condition {
        true => Ok(()),
        false => Err(words.to_owned()),
    }
}

impl Running {
    /// Waits until it has stopped, where it is [`Mpiexec::traced`].
    pub fn held_at_start<T>(&self, look: impl FnOnce(u32) -> T) -> T {
        let pid = self.child.id();
        let mut status = 0;
        // SAFETY: the status is live; a child that has stopped is not taken by this.
        let stopped = unsafe { libc::waitpid(pid as i32, &mut status, 0) };
        assert!(stopped == pid as i32 && libc::WIFSTOPPED(status));
        look(pid)
    }

    /// Lets it go on. From the thread that started it.
    pub fn release(&self) {
        // SAFETY: plain numbers.
        let released = unsafe { libc::ptrace(libc::PTRACE_DETACH, self.child.id() as i32, 0, 0) };
        assert_eq!(released, 0);
    }

    pub fn output_so_far(&self) -> String {
        self.stdout.so_far()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: no pointers; the child has not been waited for.
        unsafe {
            libc::kill(self.child.id() as i32, signal);
        }
    }

    /// Waits until the ranks have printed this so many times; `Err` if the job ends before. mpiexec has then heard that they run.
    pub fn has_output(&self, text: &str, times: usize) -> Result<(), String> {
        self.stdout.wait_for(text, times)
    }

    /// As [`Running::has_output`], where the job must not end before.
    #[track_caller]
    pub fn wait_for_output(&self, text: &str, times: usize) {
        self.has_output(text, times)
            .unwrap_or_else(|problem| panic!("{problem}"));
    }

    /// As [`Running::wait_for_output`], of standard error, mpiexec's own words among it.
    #[track_caller]
    pub fn wait_for_error(&self, text: &str, times: usize) {
        self.stderr
            .wait_for(text, times)
            .unwrap_or_else(|problem| panic!("{problem}"));
    }

    /// Waits until as many processes of the job, mpiexec and its watchdog included, satisfy the condition.
    #[track_caller]
    pub fn wait_until(&self, condition: impl Fn(&[Process]) -> bool) -> Vec<Process> {
        let until = Instant::now() + LIMIT;
        loop {
            let processes = processes_of(&self.mark);
            if condition(&processes) {
                return processes;
            }
            assert!(Instant::now() < until, "never came about: {processes:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What stays after that time is killed, for it holds the job's output open, and fails the test.
    #[track_caller]
    fn check_nothing_left(&self, time: Duration) {
        let mut left = processes_of(&self.mark);
        let until = Instant::now() + time;
        while !left.is_empty() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
            left = processes_of(&self.mark);
        }
        for process in &left {
            // SAFETY: no pointers.
            unsafe {
                libc::kill(process.pid, libc::SIGKILL);
            }
        }
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    /// Waits for the end and checks that no process of the job stays.
    #[track_caller]
    pub fn finish(self) -> Outcome {
        self.finish_within(Duration::ZERO)
    }

    /// As [`Running::finish`], where something may stay for so long: what mpiexec cannot end itself its watchdogs end.
    #[track_caller]
    pub fn finish_within(mut self, time_after: Duration) -> Outcome {
        let until = self.started + LIMIT;
        let status = loop {
            match self.child.try_wait().expect("the child is ours") {
                Some(status) => break status,
                None if Instant::now() >= until => {
                    let processes = processes_of(&self.mark);
                    self.child.kill().expect("the child is ours");
                    panic!("the job does not end: {processes:?}");
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let time = self.started.elapsed();
        let was_killed = status.signal() == Some(libc::SIGKILL);
        self.check_nothing_left(if was_killed {
            WATCHDOG_TIME
        } else {
            time_after
        });
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        Outcome {
            status,
            stdout,
            stderr,
            time,
        }
    }
}

#[derive(Debug)]
pub struct Process {
    pub pid: i32,
    pub command: String,
    /// As in `/proc/PID/stat`: `S` sleeping, `T` stopped.
    pub state: char,
    /// User and system time, in clock ticks.
    pub ticks: u64,
}

/// The living processes that carry the mark of one call of mpiexec.
fn processes_of(mark: &str) -> Vec<Process> {
    let entry = format!("{MARK}={mark}");
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|variable| variable == entry.as_bytes())
    })
    .filter_map(read_process)
    .filter(|process| process.state != 'Z')
    .collect()
}

fn read_process(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (before, after) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = after.split(' ').collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let command = before.split_once('(')?.1.to_owned();
    Some(Process {
        pid,
        command,
        state: fields[0].chars().next()?,
        ticks,
    })
}

/// A directory of its own that goes when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("weft-mpiexec-{}-{number}", std::process::id()));
        fs::create_dir(&path).expect("a new directory");
        Folder(path)
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a writable directory");
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Written by another process: a program that this one had open for writing could stay so in a child that another
    /// test is just starting, and would then be "busy".
    pub fn script(&self, name: &str, text: &str) -> String {
        let source = self.write("script", text);
        let path = self.0.join(name);
        let mut install = Command::new("install");
        let status = install.args(["-m", "755", &source]).arg(&path).status();
        assert!(status.expect("coreutils are there").success());
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
