//! A PMI-1 server that answers with whatever it likes: lines, numbers, process mappings, cards. Joining the job and asking for
//! cards ends, well or with an error.
#![no_main]

use std::io::Write;
use std::net::Shutdown;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;

use libfuzzer_sys::fuzz_target;
use weft_bootstrap::pmi1::{LineBuffer, Message};
use weft_bootstrap::{Hosts, Mapping};

fn lines(data: &[u8]) {
    let mut buffer = LineBuffer::new(1024);
    for piece in data.chunks(7) {
        buffer.push(piece);
        while let Some(line) = buffer.next_line() {
            if let Ok(message) = Message::parse(&line) {
                let again = Message::parse(message.to_string().trim_end_matches('\n').as_bytes());
                assert_eq!(
                    again.map(|again| again.to_string()).ok(),
                    Some(message.to_string())
                );
            }
        }
        if buffer.too_long() {
            return;
        }
    }
}

fn mapping(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Some(mapping) = Mapping::parse(text)
    {
        let hosts = Hosts::named((0..41).map(|rank| mapping.node(rank)));
        for rank in [0, 1, 7, 40] {
            let beside: Vec<u32> = hosts.ranks(hosts.of(rank)).collect();
            let shares = |other: &u32| mapping.node(*other) == mapping.node(rank);
            let expected: Vec<u32> = (0..41).filter(shares).collect();
            assert_eq!(beside, expected, "{rank} of {text}");
        }
    }
}

fn job(data: &[u8]) {
    let (ours, mut server) = UnixStream::pair().unwrap();
    // What does not fit is never said: the server closes.
    server.set_nonblocking(true).unwrap();
    let _ = server.write(data);
    server.shutdown(Shutdown::Write).unwrap();
    let fd = ours.into_raw_fd().to_string();
    // SAFETY: this process has one thread.
    unsafe {
        std::env::set_var("PMI_FD", fd);
        std::env::set_var("PMI_RANK", "1");
        std::env::set_var("PMI_SIZE", "3");
    }
    let Ok(bootstrap) = weft_bootstrap::connect() else {
        return;
    };
    assert!(bootstrap.job().local_ranks.contains(&bootstrap.job().rank));
    let _ = bootstrap.publish("shm1:1:2:3:4");
    let _ = bootstrap.fence();
    for rank in [0, 2] {
        let _ = bootstrap.card(rank);
    }
    let _ = bootstrap.agree(&|cards| vec![0; cards.len()], None);
    let _ = bootstrap.finalize();
}

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, rest)) => lines(rest),
        Some((1, rest)) => mapping(rest),
        _ => job(data),
    }
});
