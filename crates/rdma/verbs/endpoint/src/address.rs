//! Where a process's queue pairs and memory are, for peers. How it reaches them, the caller decides.

use serde::{Deserialize, Serialize};
use weft_verbs::abi::{IBV_LINK_LAYER_ETHERNET, IBV_MTU_1024, ibv_gid};
use weft_verbs::{Connection, Context, MemoryRegion, Path, Remote};

use crate::Error;

/// A port of an adapter: enough for InfiniBand and for Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    pub lid: u16,
    /// On Ethernet, with its index.
    pub gid: Option<([u8; 16], u8)>,
}

/// The first, and of most adapters the only one.
const PORT: u8 = 1;
/// Of RoCEv2: on the kernel's devices and the one in software, index 1 is the first interface's IPv4 address.
const ETHERNET_GID: u8 = 1;
/// Reads and atomics under way: mlx5's limit, and that of the device in software.
const READS: u8 = 16;

/// A queue pair, and the packet number that its requests begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuePairAddress {
    pub number: u32,
    pub psn: u32,
}

/// Registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAddress {
    pub address: u64,
    pub key: u32,
}

/// What a peer must know of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    pub port: Port,
    /// In the order of [`Layout::place`](crate::Layout::place).
    pub queue_pairs: Vec<QueuePairAddress>,
    /// The buffers of each thread, thread by thread; shared ones as often as they are shared.
    pub memory: Vec<MemoryAddress>,
}

impl Port {
    pub fn of(context: &Context) -> Result<Port, Error> {
        let port = context.port(PORT)?;
        let gid = match port.link_layer {
            IBV_LINK_LAYER_ETHERNET => {
                let gid = context.gid(PORT, ETHERNET_GID)?;
                Some((gid.bytes(), ETHERNET_GID))
            }
            _ => None,
        };
        Ok(Port { lid: port.lid, gid })
    }

    /// From a queue pair `own` on a port of the same network to `peer` there.
    pub fn connection(self, own: QueuePairAddress, peer: QueuePairAddress) -> Connection {
        let path = Path {
            lid: self.lid,
            gid: self.gid.map(|(raw, index)| (ibv_gid { raw }, index)),
            service_level: 0,
        };
        Connection {
            port: PORT,
            mtu: IBV_MTU_1024,
            send_psn: own.psn,
            receive_psn: peer.psn,
            responder_depth: READS,
            requester_depth: READS,
            ..Connection::new(path, peer.number)
        }
    }
}

impl QueuePairAddress {
    /// With a packet number that follows from the queue pair's, so that packets of an earlier one are not taken for its own.
    pub(crate) fn of(number: u32) -> QueuePairAddress {
        QueuePairAddress {
            number,
            psn: number.wrapping_mul(0x9e_3779) & 0xff_ffff,
        }
    }
}

impl MemoryAddress {
    pub fn of(region: &MemoryRegion) -> MemoryAddress {
        let Remote { address, key } = region.remote();
        MemoryAddress { address, key }
    }

    pub fn remote(self) -> Remote {
        Remote {
            address: self.address,
            key: self.key,
        }
    }
}

impl From<Remote> for MemoryAddress {
    fn from(remote: Remote) -> MemoryAddress {
        MemoryAddress {
            address: remote.address,
            key: remote.key,
        }
    }
}
