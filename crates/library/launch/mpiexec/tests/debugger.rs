//! What parallel debuggers find in mpiexec: the process table, and that it holds ranks while it is stopped.

mod common;

use common::{Process, Running, mpiexec, rank_program};
use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

const SPAWNED: i32 = 1;

/// A jump to itself: whoever runs it stays there.
#[cfg(target_arch = "x86_64")]
const STAY: &[u8] = &[0xeb, 0xfe];
#[cfg(target_arch = "aarch64")]
const STAY: &[u8] = &[0x00, 0x00, 0x00, 0x14];

/// The memory of mpiexec, as a debugger sees it.
struct Starter {
    memory: File,
    /// Where what debuggers look for is.
    symbols: HashMap<String, u64>,
}

impl Starter {
    fn of(pid: u32) -> Starter {
        let program = env!("CARGO_BIN_EXE_mpiexec");
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("it runs");
        let first = maps.lines().find(|line| line.ends_with("/mpiexec"));
        let begin = first
            .and_then(|line| line.split('-').next())
            .expect("it is mapped");
        let base = u64::from_str_radix(begin, 16).expect("an address");
        let listed = Command::new("nm").arg(program).output().expect("nm runs");
        let listed = String::from_utf8(listed.stdout).expect("names");
        let symbols = listed.lines().filter_map(|line| {
            let (address, name) = (line.split(' ').next()?, line.rsplit(' ').next()?);
            let address = u64::from_str_radix(address, 16).ok()?;
            name.starts_with("MPIR_")
                .then(|| (name.to_owned(), base + address))
        });
        Starter {
            symbols: symbols.collect(),
            memory: File::options()
                .read(true)
                .write(true)
                .open(format!("/proc/{pid}/mem"))
                .expect("a child may be looked into"),
        }
    }

    fn word(&self, name: &str) -> i32 {
        let mut bytes = [0; 4];
        let read = self.memory.read_exact_at(&mut bytes, self.symbols[name]);
        read.expect(name);
        i32::from_ne_bytes(bytes)
    }

    fn pointer(&self, address: u64) -> u64 {
        let mut bytes = [0; 8];
        self.memory
            .read_exact_at(&mut bytes, address)
            .expect("mapped");
        u64::from_ne_bytes(bytes)
    }

    fn string(&self, address: u64) -> String {
        let bytes = (address..).map(|at| {
            let mut byte = [0];
            self.memory.read_exact_at(&mut byte, at).expect("mapped");
            byte[0]
        });
        let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        String::from_utf8(bytes).expect("a name")
    }

    /// Host, program and process of each rank.
    fn table(&self) -> Vec<(String, String, i32)> {
        let table = self.pointer(self.symbols["MPIR_proctable"]);
        let count = self.word("MPIR_proctable_size") as u64;
        let entry = |at: u64| {
            let entry = table + 24 * at;
            let [host, program, pid] = [0, 8, 16].map(|offset| self.pointer(entry + offset));
            (self.string(host), self.string(program), pid as u32 as i32)
        };
        (0..count).map(entry).collect()
    }

    /// Waits until mpiexec says this.
    fn wait_for_state(&self, state: i32) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.word("MPIR_debug_state") != state {
            assert!(Instant::now() < until, "it says something else");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn pids(running: &Running, command: &str, count: usize) -> Vec<i32> {
    let is = |process: &&Process| process.command == command;
    let processes = running.wait_until(|all| all.iter().filter(is).count() == count);
    let mut pids: Vec<i32> = processes
        .iter()
        .filter(is)
        .map(|process| process.pid)
        .collect();
    pids.sort();
    pids
}

#[test]
fn a_debugger_that_attaches_finds_all_ranks() {
    let here = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let here = here.trim();
    // One of them by a wrapper, whose program is the one to debug.
    let wrapped = format!(
        "[ $PMI_RANK = 1 ] && {{ {0} init fence say=ready hold; true; }}; exec {0} init fence say=ready hold",
        rank_program()
    );
    let on_two = &["-launcher", "fork", "-hosts", "one:2,two:1"];
    for (hosts, names) in [(&[][..], [here; 3]), (on_two, ["one", "one", "two"])] {
        let job = ["-n", "3", "sh", "-c", &wrapped];
        let running = mpiexec(&[hosts, &job].concat()).start();
        running.wait_for_output("ready", 3);
        let table = Starter::of(running.child.id()).table();
        let told: Vec<&str> = table.iter().map(|(host, ..)| &**host).collect();
        assert_eq!(told, names);
        let program = fs::canonicalize(rank_program()).expect("it is there");
        assert!(
            table
                .iter()
                .all(|(_, name, _)| *name == program.display().to_string()),
            "{table:?}"
        );
        let mut told: Vec<i32> = table.iter().map(|(.., pid)| *pid).collect();
        told.sort();
        assert_eq!(told, pids(&running, "rank", 3));
        running.signal(libc::SIGTERM);
        running.finish().expect(143);
    }
}

#[test]
fn a_debugger_that_starts_the_job_holds_it_in_init() {
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "one:1,two:1"]] {
        let job = [
            "-n",
            "2",
            "RANK",
            "init",
            "fence",
            "say=ready",
            "fence",
            "1@exit=7",
            "hold",
        ];
        let running = mpiexec(&[hosts, &job].concat()).traced().start();
        let starter = running.held_at_start(Starter::of);
        let place = starter.symbols["MPIR_Breakpoint"];
        let mut code = vec![0; STAY.len()];
        starter
            .memory
            .read_exact_at(&mut code, place)
            .expect("mapped");
        starter
            .memory
            .write_all_at(STAY, place)
            .expect("a debugger may");
        let debugged = starter.symbols["MPIR_being_debugged"];
        starter
            .memory
            .write_all_at(&1i32.to_ne_bytes(), debugged)
            .expect("a debugger may");
        running.release();
        starter.wait_for_state(SPAWNED);
        let mut told: Vec<i32> = starter.table().iter().map(|(.., pid)| *pid).collect();
        told.sort();
        assert_eq!(told, pids(&running, "rank", 2));
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(running.output_so_far(), "", "a rank has left MPI_Init");
        starter
            .memory
            .write_all_at(&code, place)
            .expect("a debugger may");
        assert_eq!(running.has_output("ready", 2), Ok(()));
        running.finish().expect(7);
    }
}
