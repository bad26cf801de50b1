//! An operation that shows how operands were combined, and the order in which they should be, from the leaves up.

use super::world::World;
use crate::Combine;
use weft_datatype::{Datatype, Predefined};

/// Neither associative nor commutative, whatever it says. An element is a word, a hole and a word.
pub struct Shown {
    pub commutative: bool,
}

pub const HOLE: u32 = 0x5eed_0b5e;
pub type Element = [u32; 3];

fn combined(lower: Element, higher: Element) -> Element {
    let mixed = |a: u32, b: u32| {
        (a.wrapping_mul(0x9e37_79b1) ^ b)
            .rotate_left(11)
            .wrapping_add(b)
    };
    [mixed(lower[0], higher[2]), HOLE, mixed(higher[0], lower[2])]
}

impl Combine for Shown {
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize) {
        let (input, inout) = (input.cast::<Element>(), inout.cast::<Element>());
        for index in 0..count {
            // SAFETY: by this function's contract.
            unsafe {
                let [a, _, b] = combined(*input.add(index), *inout.add(index));
                (*inout.add(index))[0] = a;
                (*inout.add(index))[2] = b;
            }
        }
    }

    fn commutative(&self) -> bool {
        self.commutative
    }
}

/// The hole is of the type, which has no gaps then, or it is not.
pub fn element_type(is_dense: bool) -> Datatype {
    let word = Predefined::Uint32.into();
    match is_dense {
        true => Datatype::contiguous(3, &word).unwrap(),
        false => Datatype::vector(2, 1, 2, &word).unwrap(),
    }
}

/// What a rank, or several together, have.
pub type Vector = Vec<Element>;

/// Rank `rank`'s operand.
pub fn operand(rank: usize, count: usize) -> Vector {
    let word = |factor: usize, index: usize| (factor * rank + index + 1) as u32;
    (0..count)
        .map(|index| [word(1000, index), HOLE, word(7, index)])
        .collect()
}

fn both(lower: Vector, higher: Vector) -> Vector {
    lower
        .into_iter()
        .zip(higher)
        .map(|(f, g)| combined(f, g))
        .collect()
}

/// All operands: pairs of the first until a power of two is left, then halves.
pub fn all(operands: &[Vector]) -> Vector {
    let leaves = 1 << operands.len().ilog2();
    let (pairs, single) = operands.split_at(2 * (operands.len() - leaves));
    let pairs = pairs
        .chunks(2)
        .map(|pair| both(pair[0].clone(), pair[1].clone()));
    let leaves: Vec<Vector> = pairs.chain(single.iter().cloned()).collect();
    halves(&leaves)
}

fn halves(leaves: &[Vector]) -> Vector {
    match leaves {
        [one] => one.clone(),
        _ => {
            let (lower, higher) = leaves.split_at(leaves.len() / 2);
            both(halves(lower), halves(higher))
        }
    }
}

/// The operands before some rank, none of none: trees of powers of two, the greatest first, and what comes behind each has combined before.
pub fn before(operands: &[Vector]) -> Option<Vector> {
    if operands.is_empty() {
        return None;
    }
    let (tree, behind) = operands.split_at(1 << operands.len().ilog2());
    Some(match before(behind) {
        None => halves(tree),
        Some(behind) => both(halves(tree), behind),
    })
}

/// The operands before a rank and its own.
pub fn up_to(operands: &[Vector]) -> Vector {
    let (own, mut rest) = operands.split_last().unwrap();
    let mut result = own.clone();
    while !rest.is_empty() {
        let behind = rest.len() & (rest.len() - 1);
        result = both(halves(&rest[behind..]), result);
        rest = &rest[..behind];
    }
    result
}

/// How a world's operands combine where an operation is composed of those within hosts and between them.
pub struct Composed {
    hosts: Vec<Vec<usize>>,
    operands: Vec<Vector>,
}

impl Composed {
    pub fn of(world: &World, operands: Vec<Vector>) -> Composed {
        let hosts = match world.hosts(0) {
            None => vec![(0..operands.len()).collect()],
            Some(hosts) => {
                let ranks = |host| (0..hosts.ranks_on(host)).map(move |at| (host, at));
                let of_host = |host| {
                    ranks(host)
                        .map(|(host, at)| hosts.rank_at(host, at))
                        .collect()
                };
                (0..hosts.count()).map(of_host).collect()
            }
        };
        Composed { hosts, operands }
    }

    fn operands(&self, ranks: &[usize]) -> Vec<Vector> {
        ranks
            .iter()
            .map(|&rank| self.operands[rank].clone())
            .collect()
    }

    pub fn all(&self) -> Vector {
        let of_hosts: Vec<_> = self
            .hosts
            .iter()
            .map(|host| all(&self.operands(host)))
            .collect();
        all(&of_hosts)
    }

    /// Each host's last rank has a prefix for its total.
    pub fn prefix(&self, rank: usize, inclusive: bool) -> Option<Vector> {
        let own = self
            .hosts
            .iter()
            .position(|host| host.contains(&rank))
            .unwrap();
        let place = self.hosts[own].iter().position(|&one| one == rank).unwrap();
        let total = |host: &Vec<usize>| {
            let operands = self.operands(host);
            match inclusive {
                true => up_to(&operands),
                false => {
                    let (last, rest) = operands.split_last().unwrap();
                    before(rest).map_or(last.clone(), |rest| both(rest, last.clone()))
                }
            }
        };
        let totals: Vec<_> = self.hosts[..own].iter().map(total).collect();
        let on_host = self.operands(&self.hosts[own]);
        let within = match inclusive {
            true => Some(up_to(&on_host[..=place])),
            false => before(&on_host[..place]),
        };
        match (before(&totals), within) {
            (Some(hosts), Some(within)) => Some(both(hosts, within)),
            (hosts, within) => hosts.or(within),
        }
    }
}
