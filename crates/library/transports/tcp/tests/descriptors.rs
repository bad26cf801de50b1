//! A process that may have few descriptors: what it is told, and that nothing panics or waits for ever. A test of its own program, as
//! the limit is the whole process's.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_contract::Cards;
use weft_tcp::{Options, Tcp, TcpEndpoint};
use weft_transport::{Cookie, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink};

const LANES: u32 = 16;

/// What a lane is told: of lost peers and rooms.
#[derive(Default)]
struct Told {
    lost: Option<String>,
    writable: bool,
}

impl Sink for Told {
    fn packet(&mut self, _: Peer, _: Header, _: &[u8]) {}
    fn sent(&mut self, _: Cookie) {}
    fn received(&mut self, _: Cookie) {}
    fn writable(&mut self, _: Peer) {
        self.writable = true;
    }
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, _: Peer, lost: &Lost) {
        self.lost = Some(lost.to_string());
    }
}

fn options() -> Options {
    Options {
        job: "few".to_owned(),
        interfaces: vec!["lo".to_owned()],
        is_one_host: false,
        timeout: Some(Duration::from_secs(1)),
    }
}

/// All descriptors that this process may have.
struct Hoard(Vec<File>);

impl Hoard {
    fn new() -> Hoard {
        let limit = libc::rlimit {
            rlim_cur: 200,
            rlim_max: 200,
        };
        // SAFETY: reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
        let mut hoard = Hoard(Vec::new());
        hoard.take();
        hoard
    }

    fn take(&mut self) {
        while let Ok(file) = File::open("/dev/null") {
            self.0.push(file);
        }
    }

    /// So many more are free.
    fn give(&mut self, count: usize) {
        self.0.truncate(self.0.len() - count);
    }
}

/// Turns two lanes until the first has lost the other's process: why.
fn lost(lanes: [&mut TcpEndpoint; 2]) -> String {
    let [one, other] = lanes;
    let (mut told, begin) = (Told::default(), Instant::now());
    loop {
        one.poll(&mut told);
        one.flush();
        other.poll(&mut Told::default());
        other.flush();
        assert!(begin.elapsed() < Duration::from_secs(20) && !told.writable);
        if let Some(why) = told.lost {
            return why;
        }
    }
}

#[test]
fn too_few_descriptors_are_told() {
    let cards = Arc::new(Cards::default());
    let make = |rank, size| {
        let made = Tcp::new(rank, size, LANES, cards.clone(), options());
        made.inspect(|fabric| cards.put(rank, fabric.card()))
    };
    let mut hoard = Hoard::new();
    // One more each time, until there are as many as it takes.
    let mut failures = 0;
    let a = loop {
        match make(0, 3) {
            Ok(fabric) => break fabric,
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.contains("may have 200 files") && text.contains("ulimit -n"),
                    "{text}"
                );
            }
        }
        failures += 1;
        hoard.give(1);
    };
    assert!(failures > LANES, "{failures}");
    hoard.take();
    // All lanes can be used with what it has.
    let mut lanes: Vec<_> = (0..LANES).map(|lane| a.endpoint(lane)).collect();
    hoard.give(60);
    let [b, c] = [1, 2].map(|rank| make(rank, 3).unwrap());
    let [mut of_b, mut of_c] = [b.endpoint(0), c.endpoint(0)];
    hoard.take();
    let header = Header([0, 0]);

    // None is left for a connection on this side.
    assert_eq!(
        lanes[0].send(1, header, &[], true),
        Err(Refused::Connecting)
    );
    a.connect(1);
    let why = lost([&mut lanes[0], &mut of_b]);
    assert!(
        why.contains("rank 1") && why.contains("may have 200 files"),
        "{why}"
    );
    // None on the other.
    hoard.give(1);
    assert_eq!(
        lanes[0].send(2, header, &[], true),
        Err(Refused::Connecting)
    );
    a.connect(2);
    let why = lost([&mut lanes[0], &mut of_c]);
    assert!(
        why.contains("rank 2") && why.contains("ulimit -n there"),
        "{why}"
    );
}
