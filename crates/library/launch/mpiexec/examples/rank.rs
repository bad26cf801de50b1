//! A rank for tests: does what its arguments say, in order. `R@ACTION` is for rank R alone.
//!
//! init, job, cards, fence, finalize, abort=CODE, exit=CODE, kill=SIGNAL, sleep=MILLISECONDS, hold, close, raw=TEXT, report,
//! say=TEXT, until=FILE, pids, open=COUNT, mourn=RANK, outlive=RANK

use std::io::Write;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use weft_bootstrap::Bootstrap;

/// Between two looks at what is waited for.
const LOOK_TIME: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Known {
    bootstrap: Option<Bootstrap>,
    /// The process id of each rank, once all have told theirs.
    pids: Vec<String>,
}

fn main() {
    let rank = std::env::var("PMI_RANK").unwrap_or_default();
    let mut known = Known::default();
    for argument in std::env::args().skip(1) {
        let (whose, action) = argument.split_once('@').unwrap_or((&rank, &argument));
        if whose == rank {
            act(&mut known, action);
        }
    }
}

fn act(known: &mut Known, action: &str) {
    let (name, value) = action.split_once('=').unwrap_or((action, ""));
    let number = || value.parse::<i32>().expect("a number");
    let joined = || known.bootstrap.as_ref().expect("init comes first");
    let pid_of = |rank: i32| known.pids.get(rank as usize).expect("pids comes first");
    match name {
        "init" => {
            known.bootstrap =
                Some(weft_bootstrap::connect().unwrap_or_else(|error| panic!("{error}")))
        }
        "job" => println!("{:?}", joined().job()),
        "program" => {
            let text = |(key, value): &(String, Vec<u8>)| {
                format!(" {key}={}", String::from_utf8_lossy(value))
            };
            let options: String = weft_bootstrap::program_options().iter().map(text).collect();
            println!("rank {}{options}", joined().job().rank);
        }
        "cards" => exchange_cards(joined()),
        "fence" => joined().fence().expect("fence"),
        "finalize" => joined().finalize().expect("finalize"),
        "abort" => joined().abort(number(), "asked to abort"),
        "exit" => std::process::exit(number()),
        // SAFETY: no pointers; the process signals itself.
        "kill" => unsafe {
            libc::raise(number());
        },
        "sleep" => std::thread::sleep(Duration::from_millis(number() as u64)),
        "hold" => loop {
            std::thread::park();
        },
        "close" => drop(pmi_socket()),
        "raw" => send_raw(value),
        "report" => report_on_request(),
        "say" => println!("{value}"),
        "until" => wait_while(|| !Path::new(value).exists()),
        "pids" => known.pids = tell_pids(joined()),
        "open" => std::mem::forget(open_many(number())),
        "mourn" => mourn(joined(), pid_of(number())),
        // A process is there until its parent, the launcher, has been told of its end.
        "outlive" => {
            let folder = format!("/proc/{}", pid_of(number()));
            wait_while(|| Path::new(&folder).exists());
        }
        other => panic!("no action {other}"),
    }
}

fn exchange_cards(bootstrap: &Bootstrap) {
    let (rank, size) = (bootstrap.job().rank, bootstrap.job().size);
    let card_of = |rank: u32| format!("card={rank};{}", "x".repeat(2000));
    bootstrap.publish(&card_of(rank)).expect("publish");
    bootstrap.fence().expect("fence");
    for other in 0..size {
        assert_eq!(bootstrap.card(other).expect("card"), card_of(other));
    }
    println!("read {size} cards");
}

fn wait_while(condition: impl Fn() -> bool) {
    while condition() {
        std::thread::sleep(LOOK_TIME);
    }
}

fn tell_pids(bootstrap: &Bootstrap) -> Vec<String> {
    bootstrap
        .publish(&std::process::id().to_string())
        .expect("publish");
    bootstrap.fence().expect("fence");
    let ranks = 0..bootstrap.job().size;
    ranks
        .map(|rank| bootstrap.card(rank).expect("card"))
        .collect()
}

/// Descriptors that make the end of this process take a while.
fn open_many(count: i32) -> Vec<UnixStream> {
    let pairs = (0..count / 2).map(|_| UnixStream::pair().expect("under the limit"));
    pairs.flat_map(|(a, b)| [a, b]).collect()
}

/// Aborts as soon as that process has begun to end, which its descriptors show before its parent is told.
fn mourn(bootstrap: &Bootstrap, pid: &str) {
    let folder = format!("/proc/{pid}/fd");
    while std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) {}
    bootstrap.abort(1, "a peer has gone");
}

/// The connection to the launcher, taken from whoever holds it.
fn pmi_socket() -> UnixStream {
    let fd = std::env::var("PMI_FD")
        .expect("PMI_FD")
        .parse()
        .expect("a descriptor");
    // SAFETY: the launcher passed this descriptor for this process to use; `forget` or the end of the process follows any
    // other owner of the number.
    unsafe { UnixStream::from_raw_fd(fd) }
}

fn send_raw(text: &str) {
    let mut socket = pmi_socket();
    socket
        .write_all(text.as_bytes())
        .and_then(|()| socket.write_all(b"\n"))
        .expect("the launcher listens");
    std::mem::forget(socket);
}

extern "C" fn say_what_it_waits_for(_: libc::c_int) {
    let text = b"waits for a message\n";
    // SAFETY: `write` may be called in a signal handler; the text is static.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
    }
}

/// Does as the MPI library does when asked what it waits for.
fn report_on_request() {
    let handler = say_what_it_waits_for as extern "C" fn(libc::c_int);
    // SAFETY: the handler is a function of the right type that only makes a system call.
    unsafe {
        libc::signal(libc::SIGUSR2, handler as libc::sighandler_t);
    }
}
