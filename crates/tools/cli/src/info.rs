//! `weft info`: this installation and what this machine lets it do.

mod adapters;
mod addresses;
mod collectives;
mod host;
mod settings;

use std::ffi::OsString;
use std::fs;
use std::io::{self, IoSliceMut, Read};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use nix::sys::statvfs::statvfs;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use weft_mpiexec::built_with;
use weft_prices::find;

use crate::installation::Installation;
use crate::machine::{self, Machine};

#[derive(Args)]
pub struct Options {
    /// Show instead with which MPI library a program was built, and on which one it runs under mpiexec
    #[arg(conflicts_with_all = ["all", "host", "collectives", "interface"])]
    program: Option<OsString>,
    /// Show every setting too: its value, and where that comes from
    #[arg(long)]
    all: bool,
    /// Show instead what this machine charges for lines between cores, copies and wakes, which takes a second or two to measure
    #[arg(long, conflicts_with_all = ["all", "interface"])]
    host: bool,
    /// Show instead by which algorithm each collective operation goes among RANKS ranks of this host [default: as many as cores]
    #[arg(long, value_name = "RANKS", num_args = 0..=1, conflicts_with_all = ["all", "interface", "host"],
        value_parser = clap::value_parser!(u32).range(2..))]
    collectives: Option<Option<u32>>,
    /// Interfaces that ranks are to use, as mpiexec's option of that name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    interface: Vec<String>,
}

pub fn run(options: &Options) -> ExitCode {
    let installation = match Installation::find() {
        Ok(installation) => installation,
        Err(error) => {
            eprintln!("weft info: {error}");
            return ExitCode::FAILURE;
        }
    };
    if options.host {
        let prices = collectives::prices(&find(Some(&installation.prefix)));
        print!("{}{prices}", host::text());
        return ExitCode::SUCCESS;
    }
    if let Some(ranks) = options.collectives {
        let cores = machine::cores();
        let ranks = ranks.map_or(cores.max(2), |ranks| ranks as usize);
        let prices = collectives::take_prices(&installation.prefix);
        print!("{prices}\n{}", collectives::text(ranks, cores));
        return ExitCode::SUCCESS;
    }
    if let Some(program) = &options.program {
        let mpiexec = installation.prefix.join("bin/mpiexec");
        return match built_with::explanation(program, &mpiexec) {
            Ok(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Err(problem) => {
                eprintln!("weft info: {problem}");
                ExitCode::FAILURE
            }
        };
    }
    let machine = Machine::read(installation.tree.as_deref());
    let line = |name: &str, text: &str| println!("{name:<22} {text}");
    line("WeftMPI", env!("CARGO_PKG_VERSION"));
    line("MPI", "5.0 standard ABI (libmpi_abi.so.1)");
    line("prefix", &installation.prefix.display().to_string());
    for file in ["bin/mpicc", "bin/mpiexec", "lib/libmpi_abi.so.1"] {
        line(
            &format!("  {file}"),
            presence(&installation.prefix.join(file)),
        );
    }
    line("processor", &machine.processor);
    line("cores", &machine.cores.to_string());
    line("memory", &memory());
    line("kernel", &machine.kernel);
    line("copy between processes", &copy_between_processes());
    line("ptrace scope", &ptrace_scope());
    line("/dev/shm", &shared_memory_folder());
    let named = match options.interface[..] {
        [] => addresses::named_by_environment(),
        _ => options.interface.clone(),
    };
    print!("{}", addresses::text(&named));
    print!("{}", adapters::text());
    if options.all {
        print!("\n{}", settings::text(&options.interface));
    }
    ExitCode::SUCCESS
}

fn presence(path: &Path) -> &'static str {
    if path.exists() {
        "found"
    } else {
        "not there (make install)"
    }
}

fn memory() -> String {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text
        .lines()
        .next()
        .and_then(|l| l.split_whitespace().nth(1))
        .and_then(|w| w.parse::<u64>().ok());
    kib.map_or("unknown".into(), |kib| {
        format!("{:.1} GiB", kib as f64 / f64::from(1 << 20))
    })
}

fn ptrace_scope() -> String {
    match fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope") {
        Ok(scope) => format!("{} (Yama)", scope.trim()),
        Err(_) => "not restricted by Yama".into(),
    }
}

fn shared_memory_folder() -> String {
    match statvfs("/dev/shm") {
        Ok(s) => format!(
            "{} MiB free (not needed)",
            (s.blocks_free() * s.fragment_size()) >> 20
        ),
        Err(_) => "not there (not needed)".into(),
    }
}

/// Whether a process may read its sibling's memory, which is what two ranks are to each other; the parent may do
/// more. One copy of this program waits, another reads it.
fn copy_between_processes() -> String {
    match probe() {
        Ok(answer) => answer,
        Err(error) => format!("not known: {error}"),
    }
}

fn probe() -> io::Result<String> {
    let program = std::env::current_exe()?;
    let mut waiting = Command::new(&program)
        .arg(WAIT)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let reader = Command::new(&program)
        .arg(READ)
        .arg(waiting.id().to_string())
        .output();
    drop(waiting.stdin.take());
    waiting.wait()?;
    Ok(String::from_utf8_lossy(&reader?.stdout).trim().to_string())
}

/// The hidden subcommands of the probe.
pub const WAIT: &str = "probe-wait";
pub const READ: &str = "probe-read";

/// Waits until standard input ends.
pub fn probe_wait() -> ExitCode {
    let _ = io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}

/// Reads a few bytes of process `pid` and says how it went.
pub fn probe_read(pid: i32) -> ExitCode {
    let Some(base) = first_mapping(pid) else {
        println!("refused (its memory map cannot be read)");
        return ExitCode::SUCCESS;
    };
    let mut bytes = [0; 8];
    let mut local = [IoSliceMut::new(&mut bytes)];
    match process_vm_readv(
        Pid::from_raw(pid),
        &mut local,
        &[RemoteIoVec { base, len: 8 }],
    ) {
        Ok(8) => println!("allowed (process_vm_readv)"),
        Ok(n) => println!("refused (process_vm_readv read {n} of 8 bytes)"),
        Err(error) => println!("refused (process_vm_readv: {})", error.desc()),
    }
    ExitCode::SUCCESS
}

fn first_mapping(pid: i32) -> Option<usize> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    usize::from_str_radix(maps.split('-').next()?, 16).ok()
}
