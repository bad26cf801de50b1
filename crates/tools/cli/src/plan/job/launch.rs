//! One job: its processes, and a launcher for them that is mpiexec's, simulated.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use weft_mpiexec::simulation::{Simulation, Traffic};

use super::process;

/// For all processes of a job to start and to talk. A machine that swaps or a debugger takes long.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What other launchers, and who wants to see more, tell processes: nothing of that is for these.
const FOREIGN: [&str; 5] = [
    "PMI_PORT",
    "PMI_ID",
    "PMIX_RANK",
    "WEFT_TRACE",
    "WEFT_NETWORK_TIMEOUT",
];

/// What a job costs.
#[derive(Debug, Default)]
pub struct Row {
    pub ranks: u32,
    pub hosts: u32,
    /// Of each process, in bytes.
    pub started: Vec<u64>,
    pub talked: Vec<u64>,
    pub lines_of_rank_0: u64,
    pub lines_of_a_rank: u64,
    pub lines_of_an_agent: u64,
    pub agent: Traffic,
    pub head: Traffic,
}

impl Row {
    pub fn started_bytes(&self) -> u64 {
        self.started.iter().copied().max().unwrap_or(0)
    }

    pub fn talked_bytes(&self) -> u64 {
        self.talked.iter().copied().max().unwrap_or(0)
    }

    /// As [`talked_bytes`](Self::talked_bytes), in the mean: memory that processes share counts for each in proportion to how many
    /// map it at that moment, which scatters by hundreds of kilobytes from one to the other and not in all of them.
    pub fn mean_talked_bytes(&self) -> f64 {
        self.talked.iter().sum::<u64>() as f64 / self.talked.len().max(1) as f64
    }
}

/// The simulation, and the ways to the processes.
struct Launcher {
    simulation: Simulation,
    sockets: BTreeMap<u32, UnixStream>,
}

/// What has become of a process: its report, or why there is none.
type Outcome = Result<process::Report, String>;

/// Processes that are ended when nobody needs them any more.
#[derive(Default)]
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself cannot be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn start(ranks: u32, ppn: u32, dealt: bool) -> Result<Row, String> {
    let simulation = Simulation::new(ranks, ppn, dealt)?;
    let members = simulation.processes();
    let launcher = Mutex::new(Launcher {
        simulation,
        sockets: BTreeMap::new(),
    });
    let (told, outcomes) = channel();
    let reports = thread::scope(|scope| {
        let mut processes = Processes::default();
        let mut ways = Vec::new();
        for &rank in &members {
            let way = spawn(&launcher, &members, rank, &mut processes);
            ways.push((rank, way.map_err(|error| cannot_start(&error))?));
        }
        for (rank, Way { socket, output }) in ways {
            let (launcher, told) = (&launcher, told.clone());
            scope.spawn(move || serve(rank, socket, launcher));
            scope.spawn(move || hear(rank, output, &told));
        }
        collect(members.len(), &outcomes)
        // The processes end here, and with them the threads.
    })?;
    let launcher = launcher.into_inner();
    let simulation = launcher
        .map_err(|_| "the launcher's thread failed")?
        .simulation;
    let counts = simulation.counts();
    let others = members.iter().filter(|rank| **rank != 0);
    Ok(Row {
        ranks,
        hosts: simulation.hosts(),
        started: reports.iter().map(|report| report.started).collect(),
        talked: reports.iter().map(|report| report.talked).collect(),
        lines_of_rank_0: counts.lines(0),
        lines_of_a_rank: others.map(|rank| counts.lines(*rank)).max().unwrap_or(0),
        lines_of_an_agent: counts.lines_of_host(),
        agent: counts.busiest_agent(),
        head: counts.head(),
    })
}

fn cannot_start(error: &io::Error) -> String {
    format!("a process cannot be started: {error}")
}

/// This program's ends of what a process has.
struct Way {
    socket: UnixStream,
    output: std::process::ChildStdout,
}

fn spawn(
    launcher: &Mutex<Launcher>,
    members: &[u32],
    rank: u32,
    processes: &mut Processes,
) -> io::Result<Way> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut launcher = launcher.lock().map_err(|_| io::ErrorKind::Other)?;
    let mut command = Command::new(std::env::current_exe()?);
    for name in FOREIGN {
        command.env_remove(name);
    }
    let mut child = command
        .arg(process::COMMAND)
        .args(members.iter().map(u32::to_string))
        .envs(launcher.simulation.environment(rank))
        .env("PMI_FD", "0")
        .env("WEFT_INTERFACE", "lo")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take();
    processes.0.push(child);
    launcher.sockets.insert(rank, ours.try_clone()?);
    Ok(Way {
        socket: ours,
        output: output.ok_or(io::ErrorKind::BrokenPipe)?,
    })
}

/// Answers a process's questions until it ends.
fn serve(rank: u32, socket: UnixStream, launcher: &Mutex<Launcher>) {
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        let Ok(mut launcher) = launcher.lock() else {
            return;
        };
        for reply in launcher.simulation.line(rank, &line) {
            if let Some(mut socket) = launcher.sockets.get(&reply.rank) {
                // One that has ended is found out by its output.
                let _ = socket.write_all(reply.line.as_bytes());
            }
        }
    }
}

/// Waits for a process's report.
fn hear(rank: u32, mut output: impl Read, told: &Sender<(u32, Outcome)>) {
    let mut line = String::new();
    let read = BufReader::new(&mut output).read_line(&mut line);
    let outcome = match read {
        Ok(_) => process::Report::parse(&line).ok_or("it has ended without a report".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    // Nobody listens any more once another has failed.
    let _ = told.send((rank, outcome));
}

fn collect(
    count: usize,
    outcomes: &Receiver<(u32, Outcome)>,
) -> Result<Vec<process::Report>, String> {
    let mut reports = Vec::new();
    while reports.len() < count {
        match outcomes.recv_timeout(TIMEOUT) {
            Ok((_, Ok(report))) => reports.push(report),
            Ok((rank, Err(why))) => return Err(format!("rank {rank}: {why}")),
            Err(RecvTimeoutError::Timeout) => {
                return Err("a process did not start in time".to_owned());
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err("a process's threads have ended".to_owned());
            }
        }
    }
    Ok(reports)
}
