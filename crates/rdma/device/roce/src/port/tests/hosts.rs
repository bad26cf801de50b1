//! Two processes: over loopback, and in two network namespaces joined by a veth pair. One asks, the other has no
//! program of its own but this test's, called again.

use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::node::{Ends, Node};
use super::own_address;
use crate::host::{Atomic, Status};
use crate::tests::pair::{local, pattern, read, send, work, write};
use crate::tests::side::{KEY, MEMORY, SHARED};
use crate::{Injection, Operation, Work};

/// Tells the called test what to be: `local remote local-slot remote-slot loss role`.
const VARIABLE: &str = "SOFTRDMA_TEST_NODE";

/// Messages of each kind, and their length: a READ's and WRITE's odd and of many packets.
const ROUNDS: u64 = 60;
const BYTES: usize = 12_345;
/// Where the answering side's SENDs land: it lets all of its memory be read.
const LANDING: u64 = 0;

fn injection(loss: f64, seed: u64) -> Injection {
    Injection {
        loss,
        reorder: loss / 2.0,
        duplicate: loss / 2.0,
        seed,
        ..Injection::default()
    }
}

/// The test that is called as the other process.
#[test]
#[ignore = "a process of other tests"]
fn called_as_a_process() {
    let text = std::env::var(VARIABLE).expect("called by another test");
    let words: Vec<&str> = text.split(' ').collect();
    let ends = Ends {
        local: words[0].parse().unwrap(),
        remote: words[1].parse().unwrap(),
        local_slot: words[2].parse().unwrap(),
        remote_slot: words[3].parse().unwrap(),
    };
    let loss: f64 = words[4].parse().unwrap();
    match words[5] {
        "answer" => answer(ends, loss),
        _ => ask(ends, loss),
    }
}

/// Answers until killed, or until nobody can need it any more.
fn answer(ends: Ends, loss: f64) {
    let mut node = Node::open(ends, injection(loss, 2));
    node.side.shared = 0..MEMORY;
    for token in 0..ROUNDS {
        node.side
            .post_receive(token, LANDING + token * 1000, BYTES as u32);
    }
    println!("ready");
    node.run(usize::MAX, Duration::from_secs(120));
}

/// Does everything there is with the other side and compares.
fn ask(ends: Ends, loss: f64) {
    let mut node = Node::open(ends, injection(loss, 1));
    pattern(&mut node.side, 0, 800_000, 5);
    let mut posted = 0;
    let mut post = |node: &mut Node, operation, payload, fence| {
        let request = Work {
            fence,
            ..work(posted, operation, payload)
        };
        posted += 1;
        node.post(request);
    };
    for round in 0..ROUNDS {
        // The last 1000 bytes of each SEND stay where they land; the next covers the rest.
        let source = local(round * 1000, BYTES as u32);
        post(&mut node, send(), source, false);
        let target = SHARED + round * BYTES as u64;
        let source = local(round * 17, BYTES as u32);
        post(&mut node, write(target), source, false);
        post(
            &mut node,
            read(target),
            local(SHARED + 8, BYTES as u32),
            false,
        );
        let add = Operation::Atomic {
            address: MEMORY - 8,
            rkey: KEY,
            atomic: Atomic::FetchAdd { add: round },
        };
        post(&mut node, add, local(SHARED, 8), true);
    }
    post(
        &mut node,
        read(LANDING),
        local(SHARED + 100_000, 70_000),
        true,
    );
    let all = posted as usize;
    assert!(node.run(all, Duration::from_secs(60)), "not done in time");
    let statuses = node.side.sends_done.iter().map(|done| done.status);
    assert!(statuses.into_iter().all(|status| status == Status::Success));
    let sum: u64 = (0..ROUNDS - 1).sum();
    assert_eq!(node.side.bytes(SHARED, 8), sum.to_ne_bytes());
    let last = (ROUNDS - 1) * 17;
    assert_eq!(
        node.side.bytes(SHARED + 8, BYTES),
        node.side.bytes(last, BYTES)
    );
    let landed = (ROUNDS as usize - 1) * 1000 + BYTES;
    assert!(landed > 70_000);
    assert!(node.side.bytes(SHARED + 100_000, 70_000) == node.side.bytes(0, 70_000));
}

/// A process that is ended with the test.
struct Called(Child);

impl Drop for Called {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program's `called_as_a_process`, after the words of `prefix`.
fn call(prefix: &[&str], ends: Ends, loss: f64, role: &str) -> Called {
    let program = std::env::current_exe().unwrap();
    let mut words = prefix.iter().map(|word| (*word).to_owned());
    let name = module_path!().split_once("::").map_or("", |(_, rest)| rest);
    let test = format!("{name}::called_as_a_process");
    let mut command = match words.next() {
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
        None => Command::new(program),
    };
    let Ends {
        local,
        remote,
        local_slot,
        remote_slot,
    } = ends;
    let child = command
        .args([&test, "--exact", "--ignored", "--nocapture"])
        .env(
            VARIABLE,
            format!("{local} {remote} {local_slot} {remote_slot} {loss} {role}"),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the other process");
    Called(child)
}

/// Starts the answering end and waits until it is there.
fn call_answering(prefix: &[&str], ends: Ends, loss: f64) -> Called {
    let mut answering = call(prefix, ends, loss, "answer");
    let mut lines = BufReader::new(answering.0.stdout.take().unwrap()).lines();
    assert!(
        lines.any(|line| line.is_ok_and(|line| line.ends_with("ready"))),
        "the answering process did not start"
    );
    answering
}

fn ends(local: Ipv4Addr, remote: Ipv4Addr) -> Ends {
    Ends {
        local,
        remote,
        local_slot: 0,
        remote_slot: 3,
    }
}

fn other(ends: Ends) -> Ends {
    Ends {
        local: ends.remote,
        remote: ends.local,
        local_slot: ends.remote_slot,
        remote_slot: ends.local_slot,
    }
}

#[test]
fn two_processes_over_loopback() {
    for loss in [0.0, 0.05] {
        let ends = ends(own_address(), own_address());
        let _answering = call_answering(&[], other(ends), loss);
        ask(ends, loss);
    }
}

/// Two namespaces with one end of a veth pair each; they go when this goes.
struct Hosts {
    names: [String; 2],
}

const HOST_ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 173, 7, 1), Ipv4Addr::new(10, 173, 7, 2)];

impl Hosts {
    fn new() -> Result<Hosts, String> {
        let id = std::process::id();
        let hosts = Hosts {
            names: [format!("softrdma-{id}-a"), format!("softrdma-{id}-b")],
        };
        let [a, b] = &hosts.names;
        ip(&format!("netns add {a}"))?;
        ip(&format!("netns add {b}"))?;
        ip(&format!(
            "-n {a} link add eth0 type veth peer name eth0 netns {b}"
        ))?;
        for (name, address) in hosts.names.iter().zip(HOST_ADDRESSES) {
            ip(&format!("-n {name} addr add {address}/24 dev eth0"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set eth0 up"))?;
        }
        Ok(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            // One that was not made cannot be deleted.
            let _ = ip(&format!("netns delete {name}"));
        }
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip")
        .args(arguments.split(' '))
        .output()
        .map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {arguments}: {said}"))
}

#[test]
fn two_hosts_over_veth() {
    let hosts = match Hosts::new() {
        Ok(hosts) => hosts,
        Err(reason) => {
            // Namespaces need root and iproute2; where there are none, this is not tested.
            eprintln!("SKIPPED two_hosts_over_veth: {reason}");
            return;
        }
    };
    let [here, there] = HOST_ADDRESSES;
    let ends = ends(here, there);
    let [a, b] = &hosts.names;
    for loss in [0.0, 0.05] {
        let prefix = |name| ["ip", "netns", "exec", name];
        let _answering = call_answering(&prefix(b), other(ends), loss);
        let mut asking = call(&prefix(a), ends, loss, "ask");
        let status = asking.0.wait().unwrap();
        assert!(status.success(), "with {loss} lost");
    }
}
