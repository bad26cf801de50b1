//! The line by which a process is found.

use std::fmt;

use weft_credentials::Key;
use weft_pools::Pools;
use weft_verbs::abi::{IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND, ibv_mtu};

use crate::domain::{self, HostCard};
use crate::place::PortAddress;
use crate::presence::Entry;
use crate::selection::MOST_RAILS;

/// Where a process takes requests for links, and by what it knows its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// One to [`MOST_RAILS`].
    pub ports: Vec<Port>,
    pub key: Key,
    /// What it receives into, by which peers send.
    pub pools: Pools,
    /// By which peers reach it over XRC; none if they do not.
    pub host: Option<HostCard>,
    /// By which it is known whether it is still there; none if it cannot be.
    pub entry: Option<Entry>,
}

/// A port that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub place: PortAddress,
    /// Of datagrams.
    pub queue_pair: u32,
    pub queue_key: u32,
    pub mtu: ibv_mtu,
    /// Reads under way at a time, on each queue pair.
    pub reads: u8,
    /// Whether the adapter has XRC.
    pub has_xrc: bool,
}

/// Numbers of queue pairs have so many bits.
const QUEUE_PAIR_BITS: u32 = 24;

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports: Vec<String> = self.ports.iter().map(Port::to_string).collect();
        write!(
            f,
            "rdma4:{}:{}:{}:{}:{}",
            ports.join("+"),
            self.pools.to_string().replace(':', "/"),
            host_field(self.host),
            entry_field(self.entry),
            self.key,
        )
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PortAddress {
            link_layer,
            lid,
            gid,
            prefix,
        } = self.place;
        let layer = match link_layer {
            IBV_LINK_LAYER_ETHERNET => "eth",
            _ => "ib",
        };
        write!(
            f,
            "{layer}.{lid:04x}.{:032x}.{prefix:02x}.{:06x}.{:08x}.{:02x}.{:02x}.{}",
            u128::from_be_bytes(gid),
            self.queue_pair,
            self.queue_key,
            self.mtu,
            self.reads,
            if self.has_xrc { "xrc" } else { "-" },
        )
    }
}

impl Port {
    fn parse(text: &str) -> Option<Port> {
        let mut fields = text.split('.');
        let link_layer = match fields.next()? {
            "eth" => IBV_LINK_LAYER_ETHERNET,
            "ib" => IBV_LINK_LAYER_INFINIBAND,
            _ => return None,
        };
        let lid = number(fields.next(), 4)? as u16;
        let gid = number(fields.next(), 32)?.to_be_bytes();
        let prefix = number(fields.next(), 2)? as u8;
        let queue_pair = number(fields.next(), 6)? as u32;
        let queue_key = number(fields.next(), 8)? as u32;
        let mtu = number(fields.next(), 2)? as ibv_mtu;
        let reads = number(fields.next(), 2)? as u8;
        let has_xrc = match fields.next()? {
            "xrc" => true,
            "-" => false,
            _ => return None,
        };
        let is_good = fields.next().is_none()
            && queue_pair < 1 << QUEUE_PAIR_BITS
            && reads > 0
            && prefix <= 128
            && (1..=5).contains(&mtu);
        is_good.then_some(Port {
            place: PortAddress {
                link_layer,
                lid,
                gid,
                prefix,
            },
            queue_pair,
            queue_key,
            mtu,
            reads,
            has_xrc,
        })
    }
}

/// `-`, or the first process of the host; on the card of that one the place of its file too.
fn host_field(host: Option<HostCard>) -> String {
    match host {
        None => "-".to_owned(),
        Some(HostCard { first, place: None }) => format!("{first:08x}"),
        Some(HostCard {
            first,
            place: Some(place),
        }) => {
            let domain::DomainFile {
                process,
                descriptor,
                inode,
            } = place;
            format!("{first:08x}.{process:08x}.{descriptor:08x}.{inode:016x}")
        }
    }
}

fn parse_host(field: &str) -> Option<Option<HostCard>> {
    if field == "-" {
        return Some(None);
    }
    let mut parts = field.split('.');
    let first = number(parts.next(), 8)? as u32;
    let place = match parts.next() {
        None => None,
        process => Some(domain::DomainFile {
            process: number(process, 8)? as u32,
            descriptor: number(parts.next(), 8)? as u32,
            inode: number(parts.next(), 16)? as u64,
        }),
    };
    let is_all = parts.next().is_none();
    is_all.then_some(Some(HostCard { first, place }))
}

fn entry_field(entry: Option<Entry>) -> String {
    let Some(Entry {
        process,
        start,
        view,
    }) = entry
    else {
        return "-".to_owned();
    };
    format!("{process:08x}.{start:016x}.{view:016x}")
}

fn parse_entry(field: &str) -> Option<Option<Entry>> {
    if field == "-" {
        return Some(None);
    }
    let mut parts = field.split('.');
    let entry = Entry {
        process: number(parts.next(), 8)? as u32,
        start: number(parts.next(), 16)? as u64,
        view: number(parts.next(), 16)? as u64,
    };
    // Numbers of processes are positive to the kernel; others name groups of them.
    let is_process = (1..1 << 31).contains(&entry.process);
    let is_all = parts.next().is_none();
    (is_all && is_process).then_some(Some(entry))
}

/// A number of so many hexadecimal digits.
fn number(field: Option<&str>, digits: usize) -> Option<u128> {
    let field = field.filter(|f| f.len() == digits && f.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u128::from_str_radix(field, 16).ok()
}

impl Card {
    /// Reads a card; it is what another process wrote, so anything may come.
    pub fn parse(line: &str) -> Option<Card> {
        let mut fields = line.split(':');
        if fields.next()? != "rdma4" {
            return None;
        }
        let ports: Option<Vec<Port>> = fields.next()?.split('+').map(Port::parse).collect();
        let ports = ports.filter(|ports| ports.len() <= MOST_RAILS)?;
        let pools = fields.next()?.replace('/', ":").parse().ok()?;
        let host = parse_host(fields.next()?)?;
        let entry = parse_entry(fields.next()?)?;
        let key = Key::parse(fields.next()?)?;
        fields.next().is_none().then_some(Card {
            ports,
            key,
            pools,
            host,
            entry,
        })
    }

    /// Where its ports are.
    pub fn places(&self) -> Vec<PortAddress> {
        self.ports.iter().map(|port| port.place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port() -> Port {
        Port {
            place: PortAddress {
                link_layer: IBV_LINK_LAYER_INFINIBAND,
                lid: 7,
                gid: [0xfe; 16],
                prefix: 24,
            },
            queue_pair: 0xffff11,
            queue_key: 0x1234_5678,
            mtu: 3,
            reads: 16,
            has_xrc: true,
        }
    }

    fn card() -> Card {
        Card {
            ports: vec![port()],
            key: Key::new([0xab; 16]),
            pools: "S,256,512:S,16512,128,64,32".parse().unwrap(),
            host: None,
            entry: None,
        }
    }

    fn of_first() -> Card {
        let place = domain::DomainFile {
            process: u32::MAX,
            descriptor: 77,
            inode: 1 << 40,
        };
        let entry = Entry {
            process: 1 << 22,
            start: 1 << 50,
            view: u64::MAX,
        };
        Card {
            host: Some(HostCard {
                first: 3,
                place: Some(place),
            }),
            entry: Some(entry),
            ..card()
        }
    }

    fn of_second() -> Card {
        let (first, place) = (u32::MAX, None);
        Card {
            host: Some(HostCard { first, place }),
            ..card()
        }
    }

    #[test]
    fn round_trip_and_length() {
        let mut of_many = card();
        of_many.ports = vec![port(); MOST_RAILS];
        for card in [card(), of_first(), of_second(), of_many] {
            let line = card.to_string();
            let most = 224 + 72 * card.ports.len();
            assert_eq!(Card::parse(&line), Some(card));
            assert!(line.len() < most && line.bytes().all(|b| b.is_ascii_graphic() && b != b';'));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let good = card().to_string();
        for end in 0..good.len() {
            assert_eq!(Card::parse(&good[..end]), None, "{end}");
        }
        for (from, to) in [
            ("ib", "xx"),
            ("rdma4", "tcp1"),
            (".0007.", ".+007."),
            (".03.10.", ".06.10."),
            (".03.10.", ".03.00."),
            (".18.", ".81."),
            (".xrc:", ".rc:"),
            (".xrc:", ".xrc+:"),
            (":-:-:", "::-:"),
            (":-:-:", ":-::"),
            (":-:-:", ":-:00000001.0000000000000001:"),
            (":-:-:", ":-:80000001.0000000000000001.0000000000000001:"),
            (":-:-:", ":-:00000000.0000000000000001.0000000000000001:"),
            (":-:-:", ":00000001.:-:"),
            (":-:-:", ":00000001.00000001.00000001:-:"),
            (":-:-:", ":00000001.00000001.00000001.0000000000000001.0:-:"),
            ("ffff11", "\u{e9}ff11"),
        ] {
            assert_eq!(Card::parse(&good.replace(from, to)), None, "{to}");
        }
        assert_eq!(Card::parse(&format!("{good}:")), None);
        let mut too_many = card();
        too_many.ports = vec![port(); MOST_RAILS + 1];
        assert_eq!(Card::parse(&too_many.to_string()), None);
    }
}
