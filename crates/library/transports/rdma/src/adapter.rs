//! The adapter that a process uses: its first port that is up, and what lanes are given of it.

use std::fmt;
use std::time::Duration;

use weft_endpoint::{Adapter as Model, Bound, Category, Hardware, Lane, Lanes, choose};
use weft_pools::{Kind, Pool, Pools, Reach};
use weft_sync::Section;
use weft_verbs::abi::{
    IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, IBV_DEVICE_XRC, IBV_LINK_LAYER_ETHERNET,
    IBV_PORT_ACTIVE, IBV_PORT_ACTIVE_DEFER, ibv_device_attr, ibv_gid, ibv_mtu,
};
use weft_verbs::{Connection, Context, Device, Path, devices, library};

use crate::card::Card;
use crate::options::Options;
use crate::place::Place;

/// Requests that may be under way from one lane: each may end with a completion, for all of which there is room.
pub const MOST_UNDER_WAY: usize = 2048;
/// The first, and of most adapters the only one.
pub const PORT: u8 = 1;
/// Reads under way at a time, where both adapters can do so many.
const MOST_READS: i32 = 16;
/// A request is tried so often again; then the peer is lost.
const RETRIES: u8 = 7;
/// As often as it takes: a receiver that computes is no error. What it cannot take stays with its senders, each of which has a bounded
/// number of requests under way.
const UNTIL_THERE_IS_ROOM: u8 = 7;
/// 60 us between two tries to a receiver without a buffer.
const RECEIVER_NOT_READY_TIMER: u8 = 5;

/// What a peer may do with regions that allow it, as none does but for reads. The writes of no bytes that tell whether a peer lives are
/// allowed by this alone.
const ACCESS: u32 = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

/// Why there is no adapter to use.
#[derive(Clone, Debug)]
pub struct Unusable(String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// An error of any kind, in its own words.
pub fn unusable(error: impl fmt::Display) -> Unusable {
    Unusable(error.to_string())
}

/// A port of an adapter, and what is made on it.
pub struct Adapter {
    pub place: Place,
    /// By which peers' ways name this port's GID.
    gid_index: u8,
    pub mtu: ibv_mtu,
    pub reads: u8,
    /// Of one request.
    pub most_bytes: usize,
    /// Of a completion queue.
    pub most_entries: u32,
    pub category: Category,
    /// Whether the adapter has XRC, and the process somebody to share it with.
    pub has_xrc: bool,
    /// What each lane receives into.
    pub pools: Pools,
    pub context: Context,
    lanes: Section<Lanes>,
}

impl Adapter {
    /// The first device with a port that is up.
    pub fn open(lanes: u32, options: &Options) -> Result<Adapter, Unusable> {
        let library = match options.library {
            Some(library) => library,
            None => library().map_err(unusable)?,
        };
        let devices = devices(library).map_err(unusable)?;
        let mut refusals = Vec::new();
        for device in &devices {
            match Adapter::of_device(device, lanes, options) {
                Ok(adapter) => return Ok(adapter),
                Err(Unusable(why)) => refusals.push(why),
            }
        }
        Err(Unusable(match refusals.is_empty() {
            true => "there is no RDMA adapter on this host".to_owned(),
            false => refusals.join("; "),
        }))
    }

    fn of_device(device: &Device, lanes: u32, options: &Options) -> Result<Adapter, Unusable> {
        let category = match options.category {
            Some(category) => category,
            None => fitting(lanes as usize, options.processes)?,
        };
        let lanes = Lanes::open(device, category, lanes as usize).map_err(unusable)?;
        let context = lanes.context().clone();
        let port = context.port(PORT).map_err(unusable)?;
        if ![IBV_PORT_ACTIVE, IBV_PORT_ACTIVE_DEFER].contains(&port.state) {
            return Err(Unusable(format!(
                "port {PORT} of {} is down",
                device.name()
            )));
        }
        // RoCEv2's with an IPv4 address is the second, on the kernel's devices and the one in software.
        let gid_index = u8::from(port.link_layer == IBV_LINK_LAYER_ETHERNET);
        let gid = context.gid(PORT, gid_index).map_err(unusable)?;
        let attributes = context.attributes().map_err(unusable)?;
        let has_xrc = attributes.device_cap_flags & IBV_DEVICE_XRC != 0;
        let has_xrc = has_xrc && options.first_of_host.is_some();
        let pools = match &options.pools {
            Some(pools) => pools.clone(),
            None => Pools::sensible(has_xrc),
        };
        check(&pools, has_xrc, &attributes)?;
        Ok(Adapter {
            place: Place {
                link_layer: port.link_layer,
                lid: port.lid,
                gid: gid.bytes(),
            },
            gid_index,
            mtu: port.active_mtu,
            reads: attributes.max_qp_rd_atom.clamp(1, MOST_READS) as u8,
            most_bytes: port.max_msg_sz as usize,
            most_entries: attributes.max_cqe.max(0) as u32,
            category,
            has_xrc,
            pools,
            context,
            lanes: Section::new(lanes),
        })
    }

    /// Buffers that a lane may have posted for all peers, at most.
    pub fn most_receives(&self) -> u32 {
        most_receives(&self.pools, self.has_xrc)
    }

    /// UAR pages and uUARs of the process.
    pub fn hardware(&self) -> Result<Hardware, Unusable> {
        self.lanes.enter().hardware().map_err(unusable)
    }

    /// What the next lane has.
    pub fn lane(&self) -> Result<Lane, Unusable> {
        self.lanes.enter().lane().map_err(unusable)
    }

    /// The way to a peer's port. It has a GID always: on Ethernet and between subnets nothing else leads there.
    pub fn path(&self, to: &Place) -> Path {
        Path {
            lid: to.lid,
            gid: Some((ibv_gid { raw: to.gid }, self.gid_index)),
            service_level: 0,
        }
    }

    /// How the two processes' lanes reach each other.
    pub fn reach(&self, peer: &Card) -> Reach {
        match self.has_xrc && peer.host.is_some() {
            true => Reach::Xrc,
            false => Reach::Connected,
        }
    }

    /// How a queue pair that begins with packet `psn` goes to one of a peer's that begins with packet `peer_psn`.
    pub fn connection(
        &self,
        card: &Card,
        psn: u32,
        (queue_pair, peer_psn): (u32, u32),
        timeout: Option<Duration>,
    ) -> Connection {
        let reads = self.reads.min(card.reads);
        Connection {
            port: PORT,
            mtu: self.mtu.min(card.mtu),
            send_psn: psn,
            receive_psn: peer_psn,
            responder_depth: reads,
            requester_depth: reads,
            access: ACCESS,
            timeout: exponent(timeout),
            retries: RETRIES,
            receiver_not_ready_retries: UNTIL_THERE_IS_ROOM,
            receiver_not_ready_timer: RECEIVER_NOT_READY_TIMER,
            ..Connection::new(self.path(&card.place), queue_pair)
        }
    }
}

/// Of a pool over XRC there may be two queues: some peers may have no XRC.
fn most_receives(pools: &Pools, has_xrc: bool) -> u32 {
    let queues = |pool: &Pool| 1 + u32::from(has_xrc && pool.kind == Kind::Xrc);
    pools
        .all()
        .iter()
        .filter(|pool| pool.kind != Kind::PerPeer)
        .map(|pool| pool.count * queues(pool))
        .sum()
}

/// Whether the transport has such pools, and the adapter room for their buffers.
fn check(pools: &Pools, has_xrc: bool, adapter: &ibv_device_attr) -> Result<(), Unusable> {
    let most = |pool: &Pool| match pool.kind {
        Kind::PerPeer => adapter.max_qp_wr.max(0) as u32,
        Kind::Shared | Kind::Xrc => adapter.max_srq_wr.max(0) as u32,
    };
    let one_peer = pools.all().iter().filter(|pool| pool.kind == Kind::PerPeer);
    let one_peer: u32 = one_peer.map(|pool| pool.count + pool.reserve()).sum();
    let all = most_receives(pools, has_xrc) + one_peer;
    let room = (adapter.max_cqe.max(0) as u32).saturating_sub(MOST_UNDER_WAY as u32);
    let is_too_many = |pool: &&Pool| pool.count + pool.reserve() > most(pool);
    match pools.all().iter().find(is_too_many) {
        Some(pool) => Err(unusable(format_args!(
            "receive pool {pool}: the adapter's queues hold {} buffers at most",
            most(pool)
        ))),
        None if all > room => Err(unusable(format_args!(
            "receive pools {pools}: {all} buffers, of which the adapter's completion queues can report {room} at most"
        ))),
        None => Ok(()),
    }
}

/// The fastest category with which so many lanes of so many processes fit on an adapter.
fn fitting(lanes: usize, processes: u32) -> Result<Category, Unusable> {
    let choice = choose(lanes, processes.into(), &Model::TODAY, &Bound::default());
    let choice = choice.map_err(unusable)?;
    let category = choice.category.filter(|&c| c != Category::MpiThreads);
    category.ok_or_else(|| Unusable(format!("{processes} processes of {lanes} lanes: {choice}")))
}

/// The time-out of a queue pair, 4.096 us times 2 to this power, of which all tries together take at most `timeout`; 0 is for ever.
fn exponent(timeout: Option<Duration>) -> u8 {
    let Some(timeout) = timeout else {
        return 0;
    };
    let each = timeout.as_nanos() / u128::from(RETRIES + 1) / 4096;
    // 4 ms at the least: hosts have other things to do.
    each.max(1).ilog2().clamp(10, 31) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tries_take_no_longer_than_the_time_out() {
        assert_eq!(exponent(None), 0);
        for seconds in [1u64, 2, 20, 30, 3600] {
            let exponent = exponent(Some(Duration::from_secs(seconds)));
            let all = 8 * (4096u128 << exponent);
            let timeout = u128::from(seconds) * 1_000_000_000;
            assert!(
                all <= timeout && 2 * all > timeout,
                "{seconds} s: {exponent}"
            );
        }
        assert_eq!(exponent(Some(Duration::from_millis(1))), 10);
    }

    #[test]
    fn pools_that_the_adapter_cannot_hold_are_refused() {
        let adapter = ibv_device_attr {
            max_srq_wr: 1000,
            max_qp_wr: 100,
            max_cqe: 1500 + MOST_UNDER_WAY as i32,
            ..Default::default()
        };
        let error = |text: &str| {
            let pools = text.parse().unwrap();
            check(&pools, text.starts_with('X'), &adapter)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(error("S,256,1000:X,2k,500"), None);
        assert_eq!(error("P,64,80,40,4:S,256,1000:P,2k,80,40,4:S,4k,300"), None);
        let why = error("P,64,80,40,4:S,256,1000:P,2k,80,40,4:S,4k,301").unwrap();
        assert!(why.contains("1501 buffers"), "{why}");
        // Beside them 6 for credits alone.
        let why = error("S,256,8:P,2k,96,48,16").unwrap();
        assert!(
            why.contains("P,2k,96,48,16") && why.contains("100 buffers"),
            "{why}"
        );
        let why = error("S,256,1001").unwrap();
        assert!(
            why.contains("S,256,1001") && why.contains("1000 buffers"),
            "{why}"
        );
        assert!(error("X,256,751").unwrap().contains("1502 buffers"));
        let why = error("S,256,1000:S,2k,501").unwrap();
        assert!(
            why.contains("1501 buffers") && why.contains("1500 at most"),
            "{why}"
        );
    }

    #[test]
    fn the_category_is_the_fastest_that_fits() {
        assert_eq!(fitting(8, 1).unwrap(), Category::TwoXDynamic);
        assert_eq!(fitting(8, 1000).unwrap(), Category::SharedDynamic);
        let many = fitting(8, 10_000).unwrap_err().to_string();
        assert!(many.contains("10000 processes of 8 lanes"), "{many}");
    }
}
