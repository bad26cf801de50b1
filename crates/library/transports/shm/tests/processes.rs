//! Two real processes: traffic, sleeping, death, denied copies, what is left behind.
//!
//! Each scenario forks; the parent is rank 0 and the child rank 1, and both must end well.

#[path = "processes/pair.rs"]
mod pair;

use pair::{Job, Side, cpu_time, deny_copies, in_two_processes, pattern};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weft_shm::{Options, Served, Service};
use weft_transport::Fabric;

/// Nothing but a wake-up ends a sleep: one that is lost costs more than any busy machine does.
const LONG_SLEEPS: Options = Options {
    deny_copies: false,
    always_copies: false,
    longest_sleep_ms: Some(50_000),
};
const AWAKENED: Duration = Duration::from_secs(25);
fn main() {
    let before = shared_memory_names();
    run("random traffic", || {
        in_two_processes(Job::with_options(Options::default()), random_traffic)
    });
    let options = Options {
        always_copies: true,
        ..Options::default()
    };
    run("random traffic, copied", || {
        in_two_processes(Job::with_options(options), random_traffic)
    });
    let options = Options {
        deny_copies: true,
        ..Options::default()
    };
    run("random traffic, rings only", || {
        in_two_processes(Job::with_options(options), random_traffic)
    });
    run("sleepers are woken", || {
        in_two_processes(Job::with_options(LONG_SLEEPS), sleepy_ping_pong)
    });
    run("bulk wakes sleepers", || {
        in_two_processes(Job::with_options(LONG_SLEEPS), sleepy_bulk)
    });
    run("a sleeper uses no processor", || {
        in_two_processes(Job::with_options(Options::default()), idle)
    });
    run("a killed sender", || {
        in_two_processes(Job::with_options(Options::default()), killed_sender)
    });
    run("a killed receiver", || {
        in_two_processes(Job::with_options(Options::default()), killed_receiver)
    });
    run("copies denied by the kernel", || {
        in_two_processes(Job::with_options(Options::default()), denied)
    });
    for (name, scenario) in [
        ("random traffic", random_traffic as fn(&mut Side)),
        ("sleepers are woken", sleepy_ping_pong),
        ("bulk wakes sleepers", sleepy_bulk),
        ("a descriptor wakes a sleeper", other_descriptor),
        ("own threads and callers wake a sleeper", woken_by_all),
    ] {
        let name = format!("{name}, on descriptors, scattered");
        run(&name, || {
            in_two_processes(Job::of_several_hosts(LONG_SLEEPS), scenario)
        });
    }
    for (name, scenario) in [
        ("a sleeper uses no processor", idle as fn(&mut Side)),
        ("a killed sender", killed_sender),
        ("a killed receiver", killed_receiver),
        ("a killed sleeper", killed_sleeper),
    ] {
        let name = format!("{name}, on descriptors, scattered");
        run(&name, || {
            in_two_processes(Job::of_several_hosts(Options::default()), scenario)
        });
    }
    assert_eq!(
        before,
        shared_memory_names(),
        "something was left in /dev/shm"
    );
}

fn run(name: &str, scenario: impl FnOnce()) {
    let begin = Instant::now();
    scenario();
    println!("{name}: ok, {} ms", begin.elapsed().as_millis());
}

fn shared_memory_names() -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir("/dev/shm")
        .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

/// Sizes from a generator that both sides run.
fn sizes(count: u32) -> impl Iterator<Item = usize> {
    let mut state = 12_345u32;
    (0..count).map(move |index| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let limit = [50, 9_000, 100_000, 3_000_000][(index % 4) as usize];
        (state >> 8) as usize % limit
    })
}

fn random_traffic(side: &mut Side) {
    for (number, bytes) in sizes(100).enumerate() {
        let number = number as u64;
        // Every fifth goes both ways at once.
        let both = number.is_multiple_of(5);
        let sender = if both { side.me } else { number as u32 % 2 };
        let data = pattern(bytes, number + u64::from(sender));
        if both || sender == side.me {
            side.start_send(&data);
        }
        if both || sender != side.me {
            let from = if both { 1 - side.me } else { sender };
            assert!(
                side.receive(bytes) == pattern(bytes, number + u64::from(from)),
                "{bytes} bytes"
            );
        }
        side.finish_sends();
    }
    side.leave_together();
}

fn sleepy_ping_pong(side: &mut Side) {
    side.sleepy = true;
    for number in 0..3000u64 {
        if number % 2 == u64::from(side.me) {
            if number % 7 == 0 {
                std::thread::sleep(Duration::from_micros(50));
            }
            side.start_send(&number.to_ne_bytes());
        } else {
            assert_eq!(side.receive(8), number.to_ne_bytes());
        }
    }
    assert!(side.longest_sleep < AWAKENED, "{:?}", side.longest_sleep);
    side.leave_together();
}

fn sleepy_bulk(side: &mut Side) {
    side.sleepy = true;
    for number in 0..60u64 {
        let bytes = [30_000, 700_000, 3_000_000][number as usize % 3];
        let data = pattern(bytes, number);
        if number % 2 == u64::from(side.me) {
            side.start_send(&data);
            side.finish_sends();
        } else {
            assert!(side.receive(bytes) == data);
        }
    }
    assert!(side.longest_sleep < AWAKENED, "{:?}", side.longest_sleep);
    side.leave_together();
}

fn idle(side: &mut Side) {
    side.sleepy = true;
    side.start_send(b"hello");
    side.receive(5);
    if side.me == 0 {
        std::thread::sleep(Duration::from_secs(1));
        side.start_send(b"at last");
    } else {
        let before = cpu_time();
        side.receive(7);
        let used = cpu_time() - before;
        assert!(used < Duration::from_millis(5), "{used:?}");
    }
    side.leave_together();
}

/// What a process sent before it was killed is received; then it is lost, though not yet reaped.
fn killed_sender(side: &mut Side) {
    if side.me == 1 {
        for number in 0..10u64 {
            side.start_send(&number.to_ne_bytes());
        }
        side.wait_until_taken_up();
        pair::kill_myself();
    }
    for number in 0..10u64 {
        assert_eq!(side.receive(8), number.to_ne_bytes());
    }
    side.expect_loss();
}

/// A sender whose receiver dies in the middle of transfers learns it, asleep or not.
fn killed_receiver(side: &mut Side) {
    if side.me == 1 {
        side.receive(1);
        pair::kill_myself();
    }
    side.start_send(b"1");
    side.start_send(&pattern(2_000_000, 1));
    side.start_send(&pattern(200_000, 2));
    side.sleepy = true;
    side.expect_loss();
}

fn denied(side: &mut Side) {
    if side.me == 1 {
        deny_copies();
    }
    for number in 0..4 {
        let data = pattern(4_000_000, number);
        if number % 2 == u64::from(side.me) {
            side.start_send(&data);
            side.finish_sends();
        } else {
            assert!(side.receive(data.len()) == data);
        }
    }
    assert_eq!(side.endpoint.counters().copy_transfers, 0);
    assert_eq!(side.endpoint.counters().ring_transfers, 2);
    assert_eq!(side.fabric.signalled() >> 1, 0);
    side.leave_together();
}

/// A descriptor of something else ends a sleep as soon as it is readable, and messages still do.
fn other_descriptor(side: &mut Side) {
    side.sleepy = true;
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    side.descriptors.push(reader.as_raw_fd());
    let network = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        writer.write_all(b"packet").expect("room");
        writer
    });
    side.start_send(b"before");
    side.receive(6);
    while side.descriptors_ready == 0 {
        side.turn();
    }
    assert!(side.longest_sleep < AWAKENED, "{:?}", side.longest_sleep);
    reader.read_exact(&mut [0; 6]).expect("what was written");
    let _open = network.join().expect("no panic");
    side.descriptors_ready = 0;
    sleepy_ping_pong(side);
    assert_eq!(side.descriptors_ready, 0);
}

/// What ends a sleep and is no message: a thread of the process's own, a peer that waits on the memory of a window, and one
/// that calls it.
fn woken_by_all(side: &mut Side) {
    let fabric = side.fabric.clone();
    let other = fabric.process(side.other).expect("a peer");
    let own = fabric.process(side.own).expect("this process");
    let service: Arc<dyn Service> = Arc::new(Nothing);
    fabric.add_service(service.clone());
    for number in 0..4 {
        let waker = std::thread::spawn({
            let (fabric, own, other) = (fabric.clone(), own.clone(), other.clone());
            move || {
                std::thread::sleep(Duration::from_millis(30));
                match number {
                    0 => fabric.wake(),
                    1 => own.wake(),
                    2 => other.wake(),
                    _ => other.call(),
                }
            }
        });
        let ticket = fabric.prepare_sleep();
        let begin = Instant::now();
        if fabric.signalled() == 0 {
            fabric.sleep(ticket, None);
        }
        let slept = begin.elapsed();
        assert!(slept < AWAKENED, "{number}: {slept:?}");
        waker.join().expect("no panic");
        fabric.serve();
        // Neither sleeps for the next while the other has not slept for this.
        side.start_send(b"x");
        side.receive(1);
    }
    fabric.remove_service(&service);
    side.leave_together();
}

struct Nothing;

impl Service for Nothing {
    fn run(&self, _called: bool) -> Served {
        Served::default()
    }
}

/// A process that is killed in its sleep: those that go on ringing for it find out, and are no worse for it.
fn killed_sleeper(side: &mut Side) {
    side.start_send(&std::process::id().to_ne_bytes());
    let other = side.receive(4);
    side.wait_until_taken_up();
    if side.me == 1 {
        side.sleepy = true;
        side.receive(1);
        unreachable!("killed");
    }
    std::thread::sleep(Duration::from_millis(100));
    let process = side.fabric.process(side.other).expect("a peer");
    pair::kill(u32::from_ne_bytes(other.try_into().expect("4 bytes")));
    // More than the pipe has room for.
    for _ in 0..100_000 {
        process.wake();
    }
    side.sleepy = true;
    side.start_send(b"x");
    side.expect_loss();
    process.wake();
}
