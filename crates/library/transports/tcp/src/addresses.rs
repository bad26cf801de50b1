//! Which addresses of this host are told to peers, and in which order a peer's are tried.

use std::io;
use std::net::IpAddr;

use crate::card::{MOST_ADDRESSES, can_be_reached};
use crate::interfaces::{self, Interface, InterfaceState};

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

/// What makes an interface no way to other hosts, whoever is named.
fn fault(one: &Interface) -> Option<Verdict> {
    match one.state {
        InterfaceState::Down => Some(Verdict::Down),
        InterfaceState::WithoutCarrier => Some(Verdict::WithoutCarrier),
        InterfaceState::Up if !can_be_reached(&one.address) => Some(Verdict::LinkLocal),
        InterfaceState::Up => None,
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

/// The address by which processes of this host reach each other, and nobody else reaches them.
pub fn within_host(all: &[Interface]) -> Option<Interface> {
    let serves = |one: &&Interface| one.is_loopback && fault(one).is_none();
    all.iter().find(serves).cloned()
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

#[cfg(test)]
mod tests;
