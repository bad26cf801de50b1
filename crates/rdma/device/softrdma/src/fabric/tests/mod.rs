//! Tests with several processes: the test program runs itself again, and the copy plays a part (`player`).

mod joining;
mod killing;
mod queues;
mod regions;
mod sharing;
mod stepping;
mod telling;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::completion::Completion;
use super::segment::ObjectId;
use super::{Fabric, Number, Peer};

const PART: &str = "SOFTRDMA_TEST_PART";

/// A name that no other test and no other run uses.
fn fabric_name(test: &str) -> String {
    format!("test-{test}-{}", std::process::id())
}

/// Joins a fabric of this test's own.
fn join(test: &str) -> &'static Fabric {
    Fabric::join(&fabric_name(test)).unwrap()
}

/// Another process, ended when this is dropped.
struct Player {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Player {
    /// Starts one that plays `part` of the list in `player`, with `words`.
    fn start(part: &str, words: &[String]) -> Player {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "fabric::tests::player",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(PART, format!("{part} {}", words.join(" ")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Player::adopt(child.unwrap())
    }

    fn adopt(mut child: Child) -> Player {
        Player {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it says; none when it has ended.
    fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            // The harness speaks before the part does, without a line's end.
            if let Some((_, said)) = line.trim_end().split_once("=> ") {
                return Some(said.to_owned());
            }
        }
    }

    fn tell(&mut self, line: &str) {
        let _ = writeln!(self.input, "{line}");
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.kill();
    }
}

fn say(line: &str) {
    println!("=> {line}");
}

/// Waits for a line from who started this process; ends it if that one is gone.
fn listen() -> String {
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line).unwrap_or(0) == 0 {
        std::process::exit(0);
    }
    line.trim_end().to_owned()
}

/// The other processes of these tests; does nothing where it is run as a test.
#[test]
fn player() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let words: Vec<&str> = part.split_whitespace().collect();
    match words[0] {
        "member" => joining::member(words[1]),
        "occupant" => joining::occupant(words[1]),
        "squatter" => joining::squatter(words[1]),
        "worker" => killing::worker(&words[1..]),
        "stepper" => stepping::stepper(&words[1..]),
        "copier" => regions::copier(&words[1..]),
        "user" => sharing::user(&words[1..]),
        part => panic!("no part {part}"),
    }
    std::process::exit(0);
}

/// A queue pair and a completion queue of this process, as others are told of it.
struct Target {
    fabric: String,
    slot: u8,
    qp: u16,
    cq: ObjectId,
}

impl Target {
    fn new(test: &str, requests: u32, completions: u32) -> Target {
        let fabric = join(test);
        let cq = fabric.own_segment().create_cq(completions, None).unwrap();
        let qp = fabric
            .own_segment()
            .create_qp(requests, 2, |_, _| ())
            .unwrap();
        Target {
            fabric: fabric_name(test),
            slot: fabric.me().slot(),
            qp,
            cq,
        }
    }

    fn words(&self) -> Vec<String> {
        vec![
            self.fabric.clone(),
            self.slot.to_string(),
            self.qp.to_string(),
            self.cq.word().to_string(),
        ]
    }

    fn from_words(words: &[&str]) -> Target {
        Target {
            fabric: words[0].to_owned(),
            slot: words[1].parse().unwrap(),
            qp: words[2].parse().unwrap(),
            cq: ObjectId::from_word(words[3].parse().unwrap()).unwrap(),
        }
    }

    fn number(&self) -> Number {
        Number::new(self.slot, self.qp)
    }

    /// Joins the fabric and finds the process whose these are.
    fn reach(&self) -> (&'static Fabric, std::sync::Arc<Peer>) {
        let fabric = Fabric::join(&self.fabric).unwrap();
        (fabric, fabric.meet(self.slot).unwrap())
    }
}

fn completion(wr_id: u64) -> Completion {
    Completion {
        wr_id,
        ..Completion::default()
    }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Descriptors that this process has of the file with that name.
fn opened(name: &str) -> usize {
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    let links = all.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| link.to_str() == Some(name)).count()
}
