//! Which addresses of this host are told to peers, in which order a peer's are tried, and which of them are ways beside the first.

use std::io;
use std::net::IpAddr;

use crate::card::{MOST_ADDRESSES, can_be_reached};
use crate::interfaces::{self, Interface, State};

/// Whether peers are told an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Told,
    Down,
    WithoutCarrier,
    /// It means another host on each network (RFC 4291, §2.5.6), or names none.
    LinkLocal,
    Loopback,
    /// A bridge between containers or virtual machines of this host; every host has the same.
    Bridge,
    /// Others are named.
    NotNamed,
    /// A card has room for so many.
    TooMany,
}

/// An address of this host, and whether peers are told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub interface: String,
    pub address: IpAddr,
    pub verdict: Verdict,
}

/// How a further connection to a peer goes: from an address of this host's to one of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    pub own: IpAddr,
    pub theirs: IpAddr,
}

/// What makes an interface no way to other hosts, whoever is named.
fn fault(one: &Interface) -> Option<Verdict> {
    match one.state {
        State::Down => Some(Verdict::Down),
        State::WithoutCarrier => Some(Verdict::WithoutCarrier),
        State::Up if !can_be_reached(&one.address) => Some(Verdict::LinkLocal),
        State::Up => None,
    }
}

/// The addresses by which other hosts could be reached.
pub fn usable(all: Vec<Interface>) -> Vec<Interface> {
    all.into_iter().filter(|one| fault(one).is_none()).collect()
}

/// Whether the name is that of a bridge which Docker, Podman, LXC or libvirt makes within a host.
fn is_bridge(name: &str) -> bool {
    let network = name
        .strip_prefix("br-")
        .is_some_and(|id| id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let beginnings = ["docker", "podman", "cni-podman", "lxcbr", "lxdbr", "virbr"];
    network || beginnings.iter().any(|begin| name.starts_with(begin))
}

/// The addresses to tell peers, each interface's together: of the interfaces that are named, else of all but the loopback one and
/// bridges within this host, else of the best that there are. An error says what there is instead.
pub fn choose(all: &[Interface], named: &[String]) -> Result<Vec<Interface>, String> {
    let usable: Vec<&Interface> = all.iter().filter(|one| fault(one).is_none()).collect();
    let chosen = match named {
        [] => best(&usable),
        names => of_names(&usable, names)?,
    };
    if chosen.is_empty() {
        return Err("no interface is up with an address, not even the loopback one".to_owned());
    }
    let chosen = chosen.into_iter().cloned();
    Ok(chosen.take(MOST_ADDRESSES).collect())
}

fn of_names<'a>(usable: &[&'a Interface], names: &[String]) -> Result<Vec<&'a Interface>, String> {
    let mut chosen = Vec::new();
    for name in names {
        let before = chosen.len();
        chosen.extend(usable.iter().filter(|one| one.name == *name));
        if chosen.len() == before {
            let mut there: Vec<&str> = usable.iter().map(|one| one.name.as_str()).collect();
            there.dedup();
            return Err(format!(
                "no interface {name} is up with an address; there are: {}",
                there.join(", ")
            ));
        }
    }
    Ok(chosen)
}

fn best<'a>(usable: &[&'a Interface]) -> Vec<&'a Interface> {
    let outward = |one: &&&Interface| !one.is_loopback;
    let foreign = |one: &&&Interface| !one.is_loopback && !is_bridge(&one.name);
    let any = |_: &&&Interface| true;
    let those = |is_one: &dyn Fn(&&&'a Interface) -> bool| -> Vec<&'a Interface> {
        usable.iter().filter(|one| is_one(one)).copied().collect()
    };
    let ranked = [those(&foreign), those(&outward), those(&any)];
    let first = ranked.into_iter().find(|some| !some.is_empty());
    by_interface(first.unwrap_or_default())
}

/// The addresses of each interface together, the interfaces in the order of their first.
fn by_interface(addresses: Vec<&Interface>) -> Vec<&Interface> {
    let mut names: Vec<&str> = Vec::new();
    for one in &addresses {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    let mut ordered = addresses;
    ordered.sort_by_key(|one| names.iter().position(|name| *name == one.name));
    ordered
}

/// Chosen addresses as a card has them: a list for each interface.
pub fn lists(chosen: &[Interface]) -> Vec<Vec<IpAddr>> {
    let of_one = chosen.chunk_by(|one, next| one.name == next.name);
    of_one
        .map(|chunk| chunk.iter().map(|one| one.address).collect())
        .collect()
}

/// The interfaces whose addresses a process here would tell its peers, by name.
pub fn interfaces(named: &[String]) -> io::Result<Vec<String>> {
    let chosen = choose(&interfaces::all()?, named).map_err(io::Error::other)?;
    let mut names: Vec<String> = chosen.into_iter().map(|one| one.name).collect();
    names.dedup();
    Ok(names)
}

/// Each address of this host, and whether a process here would tell it to its peers, by the interfaces named for it, if any.
pub fn judged(named: &[String]) -> io::Result<Vec<Judged>> {
    judge(&interfaces::all()?, named).map_err(io::Error::other)
}

fn judge(all: &[Interface], named: &[String]) -> Result<Vec<Judged>, String> {
    let chosen = choose(all, named)?;
    let verdict = |one: &Interface| {
        if chosen.contains(one) {
            return Verdict::Told;
        }
        fault(one).unwrap_or(match named {
            [_, ..] if !named.contains(&one.name) => Verdict::NotNamed,
            [] if one.is_loopback => Verdict::Loopback,
            [] if is_bridge(&one.name) => Verdict::Bridge,
            _ => Verdict::TooMany,
        })
    };
    let judged = by_interface(all.iter().collect()).into_iter();
    let judged = judged.map(|one| Judged {
        interface: one.name.clone(),
        address: one.address,
        verdict: verdict(one),
    });
    Ok(judged.collect())
}

/// A peer's addresses in the order to try them: those on a network of this host's first, then others, and last those that
/// this host has itself, as every host has a loopback address and many have a container bridge's.
pub fn order(theirs: &[IpAddr], own: &[Interface]) -> Vec<IpAddr> {
    let rank = |address: &IpAddr| {
        if own.iter().any(|one| one.address == *address) {
            return 3;
        }
        let near = |one: &&Interface| !one.is_loopback && one.has(address);
        if own.iter().any(|one| near(&one)) {
            return 0;
        }
        let family =
            |one: &&Interface| !one.is_loopback && one.address.is_ipv4() == address.is_ipv4();
        if own.iter().any(|one| family(&one)) {
            1
        } else {
            2
        }
    };
    let mut ordered = theirs.to_vec();
    ordered.sort_by_key(rank);
    ordered
}

/// Further ways to a peer beside those `used`, of which the first is the one that everything goes by: each between an interface of
/// either side that no other way uses, on a network that both are on. One whose interface is known to carry less than half of what the
/// first one's does would be waited for, and is none.
pub fn further(
    own: &[Interface],
    theirs: &[Vec<IpAddr>],
    used: &[Path],
    speed_mbit: impl Fn(&str) -> Option<u32>,
) -> Vec<Path> {
    let mut taken = Vec::new();
    for path in used {
        let Some(ends) = ends(own, theirs, path) else {
            // By whatever that goes, it may be by any of the interfaces.
            return Vec::new();
        };
        taken.push(ends);
    }
    let Some(&(first, _)) = taken.first() else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for one in own {
        let is_slow = || match (speed_mbit(&one.name), speed_mbit(&first.name)) {
            (Some(speed), Some(of_first)) => speed < of_first / 2,
            _ => false,
        };
        // Two interfaces on one network: the kernel would send by the first of them.
        let is_taken = |&(other, _): &(&Interface, usize)| {
            other.name == one.name || one.has(&other.address) || other.has(&one.address)
        };
        if one.is_loopback || taken.iter().any(is_taken) || is_slow() {
            continue;
        }
        let is_free = |list: &usize| taken.iter().all(|(_, other)| other != list);
        let near = |list: usize| {
            let near = theirs[list].iter();
            let mut near = near.filter(|address| one.has(address) && **address != one.address);
            near.next().map(|&address| (list, address))
        };
        let found = (0..theirs.len()).filter(is_free).find_map(near);
        if let Some((list, theirs)) = found {
            taken.push((one, list));
            paths.push(Path {
                own: one.address,
                theirs,
            });
        }
    }
    paths
}

/// The interface of this host's by which a way goes.
pub fn own_end<'a>(own: &'a [Interface], path: &Path) -> Option<&'a Interface> {
    let mut of_own = own.iter().filter(|one| one.address == path.own);
    let mut near = own.iter().filter(|one| one.has(&path.theirs));
    of_own.next().or_else(|| near.next())
}

/// The interfaces between which a way goes, ours and the peer's by number. An address that is not known is one of the network that the
/// other is on.
fn ends<'a>(
    own: &'a [Interface],
    theirs: &[Vec<IpAddr>],
    path: &Path,
) -> Option<(&'a Interface, usize)> {
    let one = own_end(own, path)?;
    let by =
        |is_it: &dyn Fn(&IpAddr) -> bool| theirs.iter().position(|list| list.iter().any(is_it));
    let list =
        by(&|address| *address == path.theirs).or_else(|| by(&|address| one.has(address)))?;
    Some((one, list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, address: &str, prefix: u32) -> Interface {
        let address: IpAddr = address.parse().unwrap();
        Interface {
            name: name.to_owned(),
            address,
            prefix,
            is_loopback: address.is_loopback(),
            state: State::Up,
        }
    }

    /// In the order in which the system tells them.
    fn host() -> Vec<Interface> {
        vec![
            interface("lo", "127.0.0.1", 8),
            interface("docker0", "172.17.0.1", 16),
            interface("eth0", "10.77.0.1", 24),
            interface("eth1", "10.78.0.1", 24),
            interface("lo", "::1", 128),
            interface("eth0", "fd77::1", 64),
            interface("eth0", "fe80::1", 64),
        ]
    }

    fn texts(addresses: impl IntoIterator<Item = IpAddr>) -> Vec<String> {
        let addresses = addresses.into_iter();
        addresses.map(|address| address.to_string()).collect()
    }

    fn chosen(all: &[Interface], named: &[&str]) -> Vec<String> {
        let named: Vec<String> = named.iter().map(|name| name.to_string()).collect();
        let chosen = choose(all, &named).unwrap();
        texts(chosen.iter().map(|one| one.address))
    }

    #[test]
    fn all_that_lead_to_other_hosts_are_told() {
        assert_eq!(chosen(&host(), &[]), ["10.77.0.1", "fd77::1", "10.78.0.1"]);
        // The best that there are.
        assert_eq!(chosen(&host()[..2], &[]), ["172.17.0.1"]);
        assert_eq!(chosen(&host()[..1], &[]), ["127.0.0.1"]);
        assert!(choose(&[], &[]).is_err());
        let lists = lists(&choose(&host(), &[]).unwrap());
        let lists: Vec<Vec<String>> = lists.into_iter().map(texts).collect();
        assert_eq!(lists, [vec!["10.77.0.1", "fd77::1"], vec!["10.78.0.1"]]);
    }

    #[test]
    fn named_ones_are_told_and_no_other() {
        let named = ["eth0", "lo"];
        assert_eq!(
            chosen(&host(), &named),
            ["10.77.0.1", "fd77::1", "127.0.0.1", "::1"]
        );
        assert_eq!(chosen(&host(), &["docker0"]), ["172.17.0.1"]);
        let error = choose(&host(), &["eth7".to_owned()]).unwrap_err();
        assert!(
            error.contains("eth7") && error.contains("lo, docker0, eth0"),
            "{error}"
        );
    }

    #[test]
    fn what_is_not_told_has_a_reason() {
        let mut all = host();
        all[3].state = State::Down;
        all.push(interface("eth2", "10.79.0.1", 24));
        all[7].state = State::WithoutCarrier;
        let verdicts = |named: &[String]| -> Vec<(String, Verdict)> {
            let judged = judge(&all, named).unwrap().into_iter();
            judged
                .map(|one| (one.address.to_string(), one.verdict))
                .collect()
        };
        let expected = [
            ("127.0.0.1", Verdict::Loopback),
            ("::1", Verdict::Loopback),
            ("172.17.0.1", Verdict::Bridge),
            ("10.77.0.1", Verdict::Told),
            ("fd77::1", Verdict::Told),
            ("fe80::1", Verdict::LinkLocal),
            ("10.78.0.1", Verdict::Down),
            ("10.79.0.1", Verdict::WithoutCarrier),
        ];
        assert_eq!(
            verdicts(&[]),
            expected.map(|(text, verdict)| (text.to_owned(), verdict))
        );
        let named = verdicts(&["lo".to_owned()]);
        assert_eq!(named[0].1, Verdict::Told);
        assert_eq!(named[3].1, Verdict::NotNamed);
        let many: Vec<Interface> = (1..=20)
            .map(|n| interface("eth0", &format!("10.0.0.{n}"), 8))
            .collect();
        let judged = judge(&many, &[]).unwrap();
        let told = judged.iter().filter(|one| one.verdict == Verdict::Told);
        assert_eq!(told.count(), MOST_ADDRESSES);
        assert_eq!(judged[19].verdict, Verdict::TooMany);
    }

    #[test]
    fn bridges_within_a_host_are_known_by_name() {
        for name in [
            "docker0",
            "docker_gwbridge",
            "br-0123456789ab",
            "virbr0",
            "lxcbr0",
        ] {
            assert!(is_bridge(name), "{name}");
        }
        for name in ["br0", "br-lan", "eth0", "bond0", "br-0123456789xy"] {
            assert!(!is_bridge(name), "{name}");
        }
    }

    #[test]
    fn common_networks_come_first_and_own_addresses_last() {
        let theirs = [
            "172.17.0.1",
            "192.168.7.7",
            "fd88::1",
            "10.77.0.9",
            "fd77::9",
        ];
        let theirs = theirs.map(|text| text.parse().unwrap());
        let with_six = [
            "10.77.0.9",
            "fd77::9",
            "192.168.7.7",
            "fd88::1",
            "172.17.0.1",
        ];
        assert_eq!(texts(order(&theirs, &host())), with_six);
        let without = [
            "10.77.0.9",
            "192.168.7.7",
            "fd88::1",
            "fd77::9",
            "172.17.0.1",
        ];
        assert_eq!(texts(order(&theirs, &host()[..4])), without);
    }

    fn lists_of(texts: &[&[&str]]) -> Vec<Vec<IpAddr>> {
        let list = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        texts.iter().map(list).collect()
    }

    fn path(own: &str, theirs: &str) -> Path {
        Path {
            own: own.parse().unwrap(),
            theirs: theirs.parse().unwrap(),
        }
    }

    #[test]
    fn further_ways_go_by_further_interfaces_of_both_sides() {
        let own = [
            interface("eth0", "10.77.0.1", 24),
            interface("eth0", "fd77::1", 64),
            interface("eth1", "10.78.0.1", 24),
            interface("eth1", "fd78::1", 64),
            interface("eth2", "10.79.0.1", 24),
        ];
        let theirs = lists_of(&[&["10.77.0.2", "fd77::2"], &["10.78.0.2"], &["10.79.0.2"]]);
        let first = path("10.77.0.1", "10.77.0.2");
        let others = [
            path("10.78.0.1", "10.78.0.2"),
            path("10.79.0.1", "10.79.0.2"),
        ];
        let any = |_: &str| None;
        assert_eq!(further(&own, &theirs, &[first], any), others);
        assert_eq!(
            further(&own, &theirs, &[first, others[0]], any),
            [others[1]]
        );
        // IPv6 alone.
        let six = lists_of(&[&["fd77::2"], &["fd78::2"]]);
        let of_six = path("fd77::1", "fd77::2");
        assert_eq!(
            further(&own, &six, &[of_six], any),
            [path("fd78::1", "fd78::2")]
        );
        // Two addresses of one interface, on either side.
        let one = lists_of(&[&["10.77.0.2", "10.78.0.2", "10.79.0.2"]]);
        assert_eq!(further(&own, &one, &[first], any), []);
        let double = [own[0].clone(), interface("eth0", "10.78.0.1", 24)];
        assert_eq!(further(&double, &theirs, &[first], any), []);
        // No common network, a way that is not known, and the address that both have.
        let elsewhere = lists_of(&[&["10.77.0.2"], &["10.99.0.2"]]);
        assert_eq!(further(&own, &elsewhere, &[first], any), []);
        let unknown = path("10.1.0.1", "10.1.0.2");
        assert_eq!(further(&own, &theirs, &[unknown], any), []);
        for half in [path("10.1.0.1", "10.77.0.2"), path("10.77.0.1", "10.1.0.2")] {
            assert_eq!(further(&own, &theirs, &[half], any), others);
        }
        let same = lists_of(&[&["10.77.0.2"], &["10.78.0.1"]]);
        assert_eq!(further(&own, &same, &[first], any), []);
    }

    #[test]
    fn two_interfaces_on_one_network_and_much_slower_ones_are_no_ways() {
        let mut own = vec![
            interface("eth0", "10.77.0.1", 24),
            interface("eth1", "10.77.0.3", 24),
        ];
        let theirs = lists_of(&[&["10.77.0.2"], &["10.77.0.4"], &["10.78.0.2"]]);
        let first = [path("10.77.0.1", "10.77.0.2")];
        assert_eq!(further(&own, &theirs, &first, |_| None), []);
        own.push(interface("eth2", "10.78.0.1", 24));
        let speed =
            |of_second| move |name: &str| Some(if name == "eth2" { of_second } else { 10_000 });
        assert_eq!(further(&own, &theirs, &first, speed(1000)), []);
        let good = [path("10.78.0.1", "10.78.0.2")];
        assert_eq!(further(&own, &theirs, &first, speed(5000)), good);
        assert_eq!(further(&own, &theirs, &first, speed(100_000)), good);
    }
}
