//! A port of an adapter that a process uses, and what lanes are given of it.

use std::net::Ipv6Addr;
use std::time::Duration;
use std::{fmt, io};

use weft_endpoint::{Adapter as Model, Bound, Category, Hardware, Lane, Lanes, choose};
use weft_pools::{Pool, PoolKind, Pools, Reach};
use weft_sync::Section;
use weft_verbs::abi::{
    IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, IBV_DEVICE_XRC, IBV_LINK_LAYER_ETHERNET,
    IBV_PORT_ACTIVE, IBV_PORT_ACTIVE_DEFER, Library, ibv_device_attr, ibv_gid, ibv_mtu,
    ibv_port_attr,
};
use weft_verbs::{Connection, Context, Device, Path, devices};

use crate::card::{Card, Port};
use crate::options::Options;
use crate::place::PortAddress;
use crate::selection::{Found, Selection, Use, judge};

/// Requests that may be under way from one lane: each may end with a completion, for all of which there is room.
pub const MOST_UNDER_WAY: usize = 2048;
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

/// What a user without an adapter is told.
pub const NONE: &str = "there is no RDMA adapter on this host (`weft softrdma run -- mpiexec ...` runs a job \
    on one in software)";

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
    pub place: PortAddress,
    pub port: u8,
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
    /// The ports that are to be used, each with what lanes have of it.
    pub fn open(lanes: u32, options: &Options) -> Result<Vec<Adapter>, Unusable> {
        let ports = Ports::find(options.library)?;
        let uses = judge(&ports.found, &options.adapters).map_err(Unusable)?;
        let used = ports.found.iter().zip(&ports.devices).zip(&uses);
        let (mut open, mut refusals) = (Vec::new(), Vec::new());
        for ((found, &device), use_) in used {
            let device = &ports.all[device];
            match *use_ {
                Use::Used => match Adapter::of_port(device, found, lanes, options) {
                    Ok(adapter) => open.push(adapter),
                    Err(why) if !options.adapters.is_empty() => return Err(why),
                    Err(Unusable(why)) => refusals.push(why),
                },
                Use::Down => {
                    refusals.push(format!("port {} of {} is down", found.port, found.device));
                }
                _ => {}
            }
        }
        refusals.extend(ports.refusals);
        if options.pools.is_none() {
            // The process has one set of pools, whatever the adapter.
            let sensible = Pools::sensible(open.iter().all(|adapter| adapter.has_xrc));
            open.iter_mut()
                .for_each(|adapter: &mut Adapter| adapter.pools = sensible.clone());
        }
        match (open.is_empty(), refusals.is_empty()) {
            (false, _) => Ok(open),
            (true, false) => Err(Unusable(refusals.join("; "))),
            (true, true) => Err(unusable(NONE)),
        }
    }

    fn of_port(
        device: &Device,
        found: &Found,
        lanes: u32,
        options: &Options,
    ) -> Result<Adapter, Unusable> {
        let category = match options.category {
            Some(category) => category,
            None => fitting(lanes as usize, options.processes)?,
        };
        let lanes = Lanes::open(device, category, lanes as usize).map_err(unusable)?;
        let context = lanes.context().clone();
        let port = context.port(found.port).map_err(unusable)?;
        // RoCEv2's with an IPv4 address is the second, on the kernel's devices and the one in software.
        let is_ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
        let gid_index = u8::from(is_ethernet);
        let gid = context.gid(found.port, gid_index).map_err(unusable)?;
        let address = Ipv6Addr::from(gid.bytes()).to_canonical();
        let prefix = is_ethernet.then(|| (options.prefix_of)(address)).flatten();
        let attributes = context.attributes().map_err(unusable)?;
        let has_xrc = attributes.device_cap_flags & IBV_DEVICE_XRC != 0;
        let has_xrc = has_xrc && options.first_of_host.is_some();
        let pools = match &options.pools {
            Some(pools) => pools.clone(),
            None => Pools::sensible(has_xrc),
        };
        check(&pools, has_xrc, &attributes)?;
        Ok(Adapter {
            place: PortAddress {
                link_layer: port.link_layer,
                lid: port.lid,
                gid: gid.bytes(),
                prefix: prefix.unwrap_or(0) as u8,
            },
            port: found.port,
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

    /// Its name, and that of the port.
    pub fn name(&self) -> String {
        format!("{}:{}", self.context.name(), self.port)
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
    pub fn path(&self, to: &PortAddress) -> Path {
        Path {
            lid: to.lid,
            gid: Some((ibv_gid { raw: to.gid }, self.gid_index)),
            service_level: 0,
        }
    }

    /// How the two processes' lanes reach each other.
    pub fn reach(&self, peer: &Card, port: usize) -> Reach {
        let has_xrc = peer.ports.get(port).is_some_and(|port| port.has_xrc);
        match self.has_xrc && has_xrc && peer.host.is_some() {
            true => Reach::Xrc,
            false => Reach::Connected,
        }
    }

    /// How a queue pair that begins with packet `psn` goes to one of a peer's that begins with packet `peer_psn`.
    pub fn connection(
        &self,
        to: &Port,
        psn: u32,
        (queue_pair, peer_psn): (u32, u32),
        timeout: Option<Duration>,
    ) -> Connection {
        let reads = self.reads.min(to.reads);
        Connection {
            port: self.port,
            mtu: self.mtu.min(to.mtu),
            send_psn: psn,
            receive_psn: peer_psn,
            responder_depth: reads,
            requester_depth: reads,
            access: ACCESS,
            timeout: exponent(timeout),
            retries: RETRIES,
            receiver_not_ready_retries: UNTIL_THERE_IS_ROOM,
            receiver_not_ready_timer: RECEIVER_NOT_READY_TIMER,
            ..Connection::new(self.path(&to.place), queue_pair)
        }
    }
}

/// The ports that there are on this host.
struct Ports {
    all: Vec<Device>,
    found: Vec<Found>,
    /// Of each of those, by number.
    devices: Vec<usize>,
    /// Why devices have none.
    refusals: Vec<String>,
}

impl Ports {
    fn find(library: Option<&'static Library>) -> Result<Ports, Unusable> {
        let library = match library {
            Some(library) => library,
            None => weft_verbs::library()
                .map_err(|why| unusable(format_args!("{NONE}, nor its library: {why}")))?,
        };
        let mut ports = Ports {
            all: all_devices(library)?,
            found: Vec::new(),
            devices: Vec::new(),
            refusals: Vec::new(),
        };
        for (number, device) in ports.all.iter().enumerate() {
            match ports_of(device) {
                Ok(its) => {
                    ports.devices.extend(its.iter().map(|_| number));
                    ports.found.extend(its);
                }
                Err(Unusable(why)) => ports.refusals.push(why),
            }
        }
        Ok(ports)
    }
}

/// The devices that there are. A kernel without support for adapters has none.
fn all_devices(library: &'static Library) -> Result<Vec<Device>, Unusable> {
    devices(library).or_else(|error| {
        let kind = io::Error::from_raw_os_error(error.errno).kind();
        match kind {
            io::ErrorKind::Unsupported => Ok(Vec::new()),
            _ => Err(unusable(error)),
        }
    })
}

fn ports_of(device: &Device) -> Result<Vec<Found>, Unusable> {
    let context = device.open().map_err(unusable)?;
    let attributes = context.attributes().map_err(unusable)?;
    let port = |number: u8| {
        let port = context.port(number).map_err(unusable)?;
        Ok(Found {
            device: device.name(),
            port: number,
            is_up: [IBV_PORT_ACTIVE, IBV_PORT_ACTIVE_DEFER].contains(&port.state),
            link_layer: port.link_layer,
            speed_mbit: speed_mbit(&port),
        })
    };
    (1..=attributes.phys_port_cnt).map(port).collect()
}

/// What a port carries, of the codes for its lanes' speed and their number (InfiniBand Architecture, PortInfo).
fn speed_mbit(port: &ibv_port_attr) -> u32 {
    let code = match port.active_speed_ex {
        0 => port.active_speed.into(),
        code => code,
    };
    let lane = match code {
        1 => 2_500,
        2 => 5_000,
        4 | 8 => 10_000,
        16 => 14_000,
        32 => 25_000,
        64 => 50_000,
        128 => 100_000,
        256 => 200_000,
        _ => 0,
    };
    let lanes = match port.active_width {
        2 => 4,
        4 => 8,
        8 => 12,
        16 => 2,
        _ => 1,
    };
    lane * lanes
}

/// The ports of this host, and what becomes of each with such a selection.
pub fn survey(adapters: &Selection) -> Result<Vec<(Found, Use)>, Unusable> {
    let found = Ports::find(None)?.found;
    let uses = judge(&found, adapters).map_err(Unusable)?;
    Ok(found.into_iter().zip(uses).collect())
}

/// Of a pool over XRC there may be two queues: some peers may have no XRC.
fn most_receives(pools: &Pools, has_xrc: bool) -> u32 {
    let queues = |pool: &Pool| 1 + u32::from(has_xrc && pool.kind == PoolKind::Xrc);
    pools
        .all()
        .iter()
        .filter(|pool| pool.kind != PoolKind::PerPeer)
        .map(|pool| pool.count * queues(pool))
        .sum()
}

/// Whether the transport has such pools, and the adapter room for their buffers.
fn check(pools: &Pools, has_xrc: bool, adapter: &ibv_device_attr) -> Result<(), Unusable> {
    let most = |pool: &Pool| match pool.kind {
        PoolKind::PerPeer => adapter.max_qp_wr.max(0) as u32,
        PoolKind::Shared | PoolKind::Xrc => adapter.max_srq_wr.max(0) as u32,
    };
    let one_peer = pools
        .all()
        .iter()
        .filter(|pool| pool.kind == PoolKind::PerPeer);
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

/// The fastest category with which so many lanes of so many processes fit on an adapter; if there is none, half as many: so many
/// processes on a host leave no cores for threads, and without threads a process has no more lanes than that.
fn fitting(lanes: usize, processes: u32) -> Result<Category, Unusable> {
    let of = |lanes| choose(lanes, processes.into(), &Model::TODAY, &Bound::default());
    let fits = |category: &Category| *category != Category::MpiThreads;
    let choice = of(lanes).map_err(unusable)?;
    let fewer = || of(lanes.div_ceil(2)).ok()?.category.filter(fits);
    let category = choice.category.filter(fits).or_else(fewer);
    category.ok_or_else(|| Unusable(format!("{processes} processes of {lanes} lanes: {choice}")))
}

/// The time-out of a queue pair, 4.096 us times 2 to this power, of which all tries together take at least `timeout`: what is silent for
/// less is waited for. 0 is for ever.
fn exponent(timeout: Option<Duration>) -> u8 {
    let Some(timeout) = timeout else {
        return 0;
    };
    let each = timeout.as_nanos().div_ceil(u128::from(RETRIES + 1) * 4096);
    // 4 ms at the least: hosts have other things to do.
    each.next_power_of_two().ilog2().clamp(10, 31) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tries_take_as_long_as_the_time_out() {
        assert_eq!(exponent(None), 0);
        for seconds in [1u64, 2, 20, 30, 3600] {
            let exponent = exponent(Some(Duration::from_secs(seconds)));
            let all = 8 * (4096u128 << exponent);
            let timeout = u128::from(seconds) * 1_000_000_000;
            assert!(
                all >= timeout && all < 2 * timeout,
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
        assert_eq!(fitting(16, 1).unwrap(), Category::TwoXDynamic);
        assert_eq!(fitting(16, 400).unwrap(), Category::Dynamic);
        assert_eq!(fitting(16, 900).unwrap(), Category::SharedDynamic);
        // With eight.
        assert_eq!(fitting(16, 1500).unwrap(), Category::SharedDynamic);
        let many = fitting(16, 10_000).unwrap_err().to_string();
        assert!(many.contains("10000 processes of 16 lanes"), "{many}");
    }
}
