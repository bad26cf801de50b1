//! Ways to a peer beside the first: by which interfaces of either side.

use std::net::IpAddr;

use crate::interfaces::Interface;

/// How a further connection to a peer goes: from an address of this host's to one of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    pub own: IpAddr,
    pub theirs: IpAddr,
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
mod tests;
