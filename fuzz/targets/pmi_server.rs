//! mpiexec's PMI-1 server, and ranks that say whatever they like.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The launcher is a program, not a library: its server is taken by its file.
#[allow(dead_code)]
#[path = "../../crates/library/launch/mpiexec/src/pmi/mod.rs"]
mod pmi;

const RANKS: u32 = 3;

fuzz_target!(|data: &[u8]| {
    let job = pmi::Job {
        name: "space".into(),
        size: RANKS,
        mapping: "(vector,(0,1,3))".into(),
    };
    let mut server = pmi::Server::new(job, [0, 0, 1].into_iter());
    let mut events = Vec::new();
    for line in data.split(|&byte| byte == b'\n') {
        let Some((first, rest)) = line.split_first() else {
            continue;
        };
        server.line(u32::from(*first) % RANKS, rest, &mut events);
    }
    for event in events {
        if let pmi::Event::Reply(rank, line) = event {
            assert!(
                rank < RANKS && line.ends_with('\n') && line.len() <= pmi::LINE_MAX_BYTES,
                "{line:?}"
            );
            assert_eq!(line.matches('\n').count(), 1, "{line:?}");
        }
    }
});
