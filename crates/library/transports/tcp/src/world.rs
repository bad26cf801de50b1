//! For tests: processes of this transport, several in one.

use std::sync::Arc;
use std::time::Duration;

use weft_contract::{Cards, Tested, World, link};
pub use weft_contract::{Log, Random, memory, offer_bytes, offer_from, turn};
use weft_transport::Peer;

use crate::interfaces::{Interface, InterfaceState};
use crate::{Options, Tcp};

pub type Process = weft_contract::Process<Tcp>;

const LANES: u32 = 2;

impl Tested for Tcp {
    const LANES: u32 = LANES;

    fn tested(rank: Peer, size: u32, cards: Arc<Cards>) -> Tcp {
        Tcp::new(rank, size, LANES, cards, options()).unwrap()
    }

    fn own_card(&self) -> String {
        self.card()
    }

    fn links(&self) -> u64 {
        self.counters().links
    }

    fn under_way(&self) -> usize {
        self.pending()
    }
}

/// Options for tests: the loopback interface alone.
pub fn options() -> Options {
    Options {
        job: "test".to_owned(),
        interfaces: vec!["lo".to_owned()],
        is_one_host: false,
        timeout: Some(Duration::from_secs(5)),
    }
}

pub fn world_with(size: u32, options: &Options) -> World<Tcp> {
    World::new(size, |rank, cards| {
        Tcp::new(rank, size, LANES, cards, options.clone()).unwrap()
    })
}

pub fn world(size: u32) -> Vec<Process> {
    weft_contract::world(size)
}

pub fn pair() -> (Process, Process) {
    weft_contract::pair()
}

pub fn linked_pair() -> (Process, Process) {
    weft_contract::linked_pair()
}

/// An interface of a host that exists only in a test: with a network of the loopback interface.
fn interface(number: u32, rank: u32) -> Interface {
    Interface {
        name: format!("eth{number}"),
        address: format!("127.77.{number}.{}", rank + 1).parse().unwrap(),
        prefix: 24,
        is_loopback: false,
        state: InterfaceState::Up,
    }
}

/// Two processes of hosts that have so many interfaces each, with a link.
pub fn pair_with_interfaces(counts: [u32; 2]) -> (Process, Process) {
    let world = World::new(2, |rank, cards| {
        let own: Vec<Interface> = (0..counts[rank as usize])
            .map(|number| interface(number, rank))
            .collect();
        Tcp::with(rank, 2, LANES, cards, &options(), own.clone(), own).unwrap()
    });
    let (mut a, mut b) = world.into_pair();
    link(&mut a, &mut b);
    (a, b)
}
