//! What processes on other hosts say about connections over XRC: a message comes back as it was read, and whatever answers and requests
//! come, in whatever order, a process asks its adapter for nothing twice and gives back nothing that it does not have.
#![no_main]

use std::collections::{BTreeMap, BTreeSet};

use libfuzzer_sys::fuzz_target;
use weft_fuzz::Input;
use weft_pools::xrc::{
    Adapter, Answer, Body, Connections, Host, Message, NoResources, OpenError, Process, Reason,
    Request, SendQueuePair, SharedQueue, Timing,
};

const ME: Process = Process(0);
const HOSTS: u8 = 2;
const PEERS: u8 = 6;

/// What this process has, and nothing that it could have twice.
#[derive(Default)]
struct Counted {
    sends: BTreeMap<u32, Host>,
    receives: BTreeSet<u32>,
    last: u32,
}

impl Counted {
    fn number(&mut self) -> Result<u32, NoResources> {
        self.last += 1;
        // Each eighth is refused.
        if self.last % 8 == 0 {
            Err(NoResources)
        } else {
            Ok(self.last)
        }
    }
}

impl Adapter for Counted {
    fn create_send(&mut self, host: Host) -> Result<SendQueuePair, NoResources> {
        assert!(self.sends.values().all(|other| *other != host));
        let number = self.number()?;
        self.sends.insert(number, host);
        Ok(SendQueuePair {
            number,
            first_packet: 0,
        })
    }

    fn connect_send(&mut self, send: u32, peer: Process, _: u32) -> Result<(), NoResources> {
        assert_eq!(self.sends.get(&send), Some(&host_of(peer)));
        self.number().map(drop)
    }

    fn destroy_send(&mut self, send: u32) {
        assert!(self.sends.remove(&send).is_some());
    }

    fn create_receive(&mut self, _: Process, _: SendQueuePair) -> Result<u32, NoResources> {
        let number = self.number()?;
        assert!(self.receives.insert(number));
        Ok(number)
    }

    fn open_receive(&mut self, _: Process, _: u32, receive: u32) -> Result<(), OpenError> {
        // What this process refers to already is another sender's.
        if self.receives.contains(&receive) {
            return Err(OpenError::Gone);
        }
        self.number()
            .map_err(|NoResources| OpenError::NoResources)?;
        self.receives.insert(receive);
        Ok(())
    }

    fn close_receive(&mut self, receive: u32) {
        assert!(self.receives.remove(&receive));
    }
}

fn host_of(process: Process) -> Host {
    Host(process.0 % u64::from(HOSTS))
}

fn queues() -> Vec<SharedQueue> {
    let queue = |bytes| SharedQueue {
        bytes,
        number: bytes,
    };
    vec![queue(256), queue(4096)]
}

fn body(input: &mut Input<'_>) -> Option<Body> {
    let kind = input.byte()?;
    let number = u32::from(input.byte()? % 16);
    let other = number % 5;
    Some(match kind % 9 {
        0 => Body::Request(Request::Make(SendQueuePair {
            number,
            first_packet: other,
        })),
        1 => Body::Request(Request::Open {
            send: other,
            receive: 1 << 20 | number,
        }),
        2 => Body::Request(Request::Close),
        3 | 4 => Body::Answer(Answer::Made {
            receive: number,
            queues: queues(),
        }),
        5 => Body::Answer(Answer::Opened { queues: queues() }),
        6 => Body::Answer(Answer::Gone),
        7 => Body::Answer(Answer::Refused(if other == 0 {
            Reason::Leaving
        } else {
            Reason::NoResources
        })),
        _ => Body::Answer(Answer::Closed),
    })
}

fn step(
    input: &mut Input<'_>,
    process: &mut Connections,
    adapter: &mut Counted,
    now: &mut u64,
) -> Option<()> {
    let action = input.byte()?;
    let peer = Process(u64::from(input.byte()? % PEERS) + 1);
    match action % 16 {
        0..=3 => process.connect(peer, host_of(peer), *now, adapter),
        4 => process.disconnect(peer, *now, adapter),
        5 => process.lost(peer, *now, adapter),
        6 => process.send_failed(host_of(peer), *now, adapter),
        7 if action == 7 => process.leave(*now, adapter),
        7 | 8 => {
            *now = process.deadline_ns().unwrap_or(*now).max(*now);
            process.tick(*now, adapter);
        }
        _ => {
            let serial = u64::from(input.byte()?);
            let message = Message {
                from: peer,
                to: ME,
                serial,
                body: body(input)?,
            };
            process
                .datagram(&message.write(), *now, adapter)
                .expect("it is well formed");
        }
    }
    Some(())
}

fuzz_target!(|data: &[u8]| {
    if let Ok(message) = Message::read(data) {
        assert_eq!(message.write(), data);
    }
    let timing = Timing {
        first_ns: 10,
        most_ns: 100,
        tries: 3,
    };
    let mut process = Connections::new(ME, queues(), timing);
    let (mut adapter, mut now) = (Counted::default(), 0);
    let mut input = Input(data);
    while step(&mut input, &mut process, &mut adapter, &mut now).is_some() {
        assert_eq!(process.send_queue_pairs(), adapter.sends.len());
        assert_eq!(process.references(), adapter.receives.len());
        for (_, bytes) in process.take_outbox() {
            assert!(Message::read(&bytes).is_ok());
        }
        process.take_events();
    }
    process.leave(now, &mut adapter);
    while let Some(deadline) = process.deadline_ns() {
        now = now.max(deadline);
        process.tick(now, &mut adapter);
    }
    assert!(process.has_left());
    assert!(adapter.sends.is_empty() && adapter.receives.is_empty());
});
