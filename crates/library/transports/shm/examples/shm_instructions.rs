//! A loop of small packets in one process, for counting instructions:
//!
//! `valgrind --tool=callgrind --toggle-collect='shm_instructions::send*' shm_instructions` counts the sends,
//! `...::poll*` the turns that receive them; divide by the number of packets, which is printed.

use std::sync::Arc;

use weft_contract::Cards;
use weft_shm::{Shm, ShmEndpoint};
use weft_transport::{Cookie, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink};

const PACKETS: u64 = 100_000;

struct Taken(u64);

impl Sink for Taken {
    fn packet(&mut self, _: Peer, _: Header, payload: &[u8]) {
        let mut words = payload
            .chunks_exact(8)
            .map(|word| word.try_into().expect("8 bytes"));
        self.0 = self
            .0
            .wrapping_add(words.next().map_or(0, u64::from_ne_bytes));
    }
    fn sent(&mut self, _: Cookie) {}
    fn received(&mut self, _: Cookie) {}
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, _: Peer, lost: &Lost) {
        panic!("{lost}");
    }
}

#[inline(never)]
fn send(endpoint: &mut ShmEndpoint, number: u64) {
    let payload = number.to_ne_bytes();
    endpoint
        .send(1, Header([number, 0]), &payload, true)
        .expect("room");
}

#[inline(never)]
fn poll(endpoint: &mut ShmEndpoint, taken: &mut Taken) {
    endpoint.poll(taken);
}

fn main() {
    let cards = Arc::new(Cards::default());
    let fabrics = [0, 1].map(|rank| {
        let fabric = Shm::new(rank, &[0, 1], 1, cards.clone()).expect("shared memory");
        cards.put(rank, fabric.card());
        fabric
    });
    let [mut here, mut there] = fabrics.each_ref().map(|fabric| fabric.endpoint(0));
    let mut taken = Taken(0);
    // The link, and the ring at the other side, are made before anything is counted.
    let first = here.send(1, Header([0; 2]), b"", true);
    assert_eq!(first, Err(Refused::Connecting));
    fabrics[0].connect(1);
    here.poll(&mut taken);
    send(&mut here, 0);
    there.poll(&mut taken);
    fabrics[1].connect(0);
    there.poll(&mut taken);
    for number in 0..PACKETS {
        send(&mut here, number);
        poll(&mut there, &mut taken);
    }
    assert_eq!(taken.0, PACKETS * (PACKETS - 1) / 2);
    println!("{PACKETS} packets");
}
