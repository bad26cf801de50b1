//! A reliable connection whose peer sends whatever it likes: no panic, send requests end once and in order, and the peer
//! reaches nothing but what it may.
//!
//! The input is a list of steps: requests are posted, time passes, or a packet comes with any opcode and any fields.
#![no_main]

use std::net::Ipv4Addr;

use libfuzzer_sys::fuzz_target;
use weft_fuzz::Input;
use weft_roce::packet::View;
use weft_roce::{
    Access, Atomic, Batch, Connection, Fault, Host, Immediate, LocalError, Operation, Path,
    Payload, Receive, ReceiveDone, Region, RemoteError, RequesterConfig, ResponderConfig, SendDone,
    Service, Sge, UDP_PORT, Work,
};

const LOCAL: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const REMOTE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const KEY: u32 = 0x1200;
const SHARED_BYTES: u64 = 1 << 16;
const RECEIVE_BYTES: u64 = 2048;

#[derive(Default)]
struct Side {
    posted: u64,
    done: u64,
    receives: u64,
    taken: Vec<u64>,
}

fn reach(region: &Region) -> Result<(), RemoteError> {
    let end = region.address.checked_add(region.length);
    let inside = region.rkey == KEY && end.is_some_and(|end| end <= SHARED_BYTES);
    inside.then_some(()).ok_or(RemoteError::Access)
}

fn inside(list: &[Sge], offset: u64, bytes: usize) {
    let all: u64 = list.iter().map(|sge| u64::from(sge.length)).sum();
    assert!(
        offset + bytes as u64 <= all,
        "{offset} and {bytes} of {all}"
    );
}

impl Host for Side {
    fn gather(&mut self, list: &[Sge], offset: u64, out: &mut [u8]) -> Result<(), LocalError> {
        inside(list, offset, out.len());
        Ok(())
    }
    fn scatter(&mut self, list: &[Sge], offset: u64, data: &[u8]) -> Result<(), LocalError> {
        inside(list, offset, data.len());
        Ok(())
    }
    fn send_done(&mut self, done: SendDone) {
        assert_eq!(done.token, self.done, "in the order of their posting");
        self.done += 1;
        assert!(self.done <= self.posted, "once");
    }
    fn check(&mut self, region: &Region, _: Access) -> Result<(), RemoteError> {
        reach(region)
    }
    fn check_queue(&mut self, _: u32) -> Result<(), RemoteError> {
        Ok(())
    }
    fn read(&mut self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError> {
        assert_eq!(region.length, out.len() as u64);
        reach(region)
    }
    fn write(&mut self, region: &Region, data: &[u8]) -> Result<(), RemoteError> {
        assert_eq!(region.length, data.len() as u64);
        reach(region)
    }
    fn atomic(&mut self, region: &Region, _: Atomic) -> Result<u64, RemoteError> {
        assert_eq!(region.length, 8);
        reach(region).map(|()| 0)
    }
    fn invalidate(&mut self, _: Option<u32>, rkey: u32) -> Result<(), RemoteError> {
        (rkey == KEY).then_some(()).ok_or(RemoteError::Access)
    }
    fn take_receive(&mut self, _: Option<u32>) -> Result<Option<Receive>, RemoteError> {
        if self.receives == 0 {
            return Ok(None);
        }
        self.receives -= 1;
        self.taken.push(self.receives);
        Ok(Some(Receive {
            token: self.receives,
            capacity: RECEIVE_BYTES,
        }))
    }
    fn fill_receive(
        &mut self,
        receive: &Receive,
        offset: u64,
        data: &[u8],
    ) -> Result<(), LocalError> {
        assert!(self.taken.contains(&receive.token));
        assert!(offset + data.len() as u64 <= RECEIVE_BYTES);
        Ok(())
    }
    fn receive_done(&mut self, receive: Receive, _: ReceiveDone) {
        let before = self.taken.len();
        self.taken.retain(|&token| token != receive.token);
        assert_eq!(self.taken.len() + 1, before, "once");
    }
    fn fail(&mut self, _: Fault) {}
}

fn post(connection: &mut Connection, side: &mut Side, kind: u64, length: u32) {
    let operation = match kind % 3 {
        0 => Operation::Send {
            immediate: Immediate::None,
        },
        1 => Operation::Write {
            address: 64,
            rkey: KEY,
            immediate: None,
        },
        _ => Operation::Read {
            address: 64,
            rkey: KEY,
        },
    };
    let payload = Payload::Gather(vec![Sge {
        address: 0,
        length,
        lkey: KEY,
    }]);
    let work = Work {
        token: side.posted,
        operation,
        payload,
        solicited: false,
        fence: false,
        xrc_srq: 0,
    };
    side.posted += 1;
    connection.post(work, side);
}

/// A packet of the input's bytes. The fields that decide whether it is looked at at all are near those that are expected.
fn packet(input: &mut Input, psn: u32) -> Vec<u8> {
    let opcode = input.number(1) as u8;
    let length = input.number(1) as usize % 80 * 4;
    let near = psn.wrapping_add(input.number(1) as u32).wrapping_sub(8) & 0xff_ffff;
    let mut bytes = vec![opcode, input.number(1) as u8 & 0xf0, 0xff, 0xff, 0, 0, 0, 7];
    bytes.extend((near | (input.number(1) as u32 & 0x80) << 24).to_be_bytes());
    let rest = input.0.len().min(length).min(28);
    bytes.extend(&input.0[..rest]);
    input.0 = &input.0[rest..];
    bytes.resize(12 + length + 4, 0);
    bytes
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let service = [
        Service::Reliable,
        Service::Unreliable,
        Service::ExtendedReliable,
    ][input.number(1) as usize % 3];
    let psn = 0xff_fff0;
    let path = Path {
        local: LOCAL,
        remote: REMOTE,
        port: UDP_PORT,
        remote_qpn: 9,
        mtu: 256,
    };
    let responder = ResponderConfig {
        psn,
        max_dest_rd_atomic: 4,
        min_rnr_timer: 12,
        window: 4,
        write: true,
        read: true,
        atomic: true,
    };
    let mut connection = Connection::new(service, path, Some(responder));
    connection.start_requester(RequesterConfig {
        psn,
        timeout: 14,
        retry_count: 3,
        rnr_retry: 3,
        max_rd_atomic: 4,
        window: 64,
        selective: input.number(1) & 1 == 1,
    });
    let mut side = Side {
        receives: 8,
        ..Side::default()
    };
    let mut now = 1_000_000;
    while let Some(step) = input.byte() {
        match step & 7 {
            0 => post(
                &mut connection,
                &mut side,
                input.number(1),
                input.number(1) as u32 * 16,
            ),
            1 => side.receives += 1,
            2 => {
                now = connection.deadline().unwrap_or(now).max(now) + u64::from(step >> 3);
                connection.expire(now, &mut side);
            }
            _ => {
                let bytes = packet(&mut input, psn);
                if let Ok(view) = View::parse(&bytes) {
                    connection.receive(now, REMOTE, &view, &mut side);
                }
            }
        }
        let mut batch = Batch::new();
        // What is answered is bounded by what was asked.
        for _ in 0..10_000 {
            if !connection.transmit(now, &mut batch, &mut side) {
                break;
            }
            batch = Batch::new();
        }
    }
    connection.flush(&mut side);
    assert_eq!(side.done, side.posted, "all requests end");
});
