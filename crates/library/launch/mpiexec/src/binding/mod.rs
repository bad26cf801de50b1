//! Which CPUs each rank of a host runs on.
//!
//! Without options ranks share the cores out (`share`). With options they are mapped to objects of the machine, packages say, and bound to
//! objects of some kind there (`mapped`); `topology` knows the objects.

mod list;
mod mapped;
mod request;
mod share;
mod topology;

pub use list::{parse_cpus, show_runs};
pub use request::{Binding, Object, RankBy, To};
pub use topology::Topology;

/// The CPUs of each rank, or why ranks keep mpiexec's.
pub type Shares = Result<Vec<Vec<u32>>, &'static str>;

/// `cpus_allowed` is what the affinity mask and the control group's quota let run at once. An error is of the options: they ask for what
/// this host does not have.
pub fn assign(
    binding: &Binding,
    ranks: u32,
    topology: &Topology,
    cpus_allowed: u32,
) -> Result<Shares, String> {
    if topology.cpus().is_empty() {
        return Ok(Err("the kernel tells no affinity mask"));
    }
    let within = match &binding.within {
        Some(cpus) => &topology.within(cpus)?,
        None => topology,
    };
    // A quota below the mask makes binding harmful: the CPUs left out may be the idle ones.
    let has_quota = (cpus_allowed as usize) < within.cpus().len();
    Ok(match binding.target() {
        To::None => Err("--bind-to none"),
        To::Share if has_quota && ranks > cpus_allowed => {
            Err("the control group's quota has less processor time than ranks could use")
        }
        To::Share => Ok(share::share_out(ranks, &within.objects(Object::Core))),
        To::Objects(object, count) => Ok(mapped::place(binding, (object, count), ranks, within)?),
        To::Each => Ok(mapped::in_turn(&singles(within), ranks)),
        To::Lists(lists) => {
            lists.iter().try_for_each(|cpus| within.check(cpus))?;
            Ok(mapped::in_turn(&lists, ranks))
        }
    })
}

/// Each CPU, in the order of their numbers.
fn singles(topology: &Topology) -> Vec<Vec<u32>> {
    let mut cpus = topology.cpus();
    cpus.sort_unstable();
    cpus.into_iter().map(|cpu| vec![cpu]).collect()
}

#[cfg(test)]
mod tests;
