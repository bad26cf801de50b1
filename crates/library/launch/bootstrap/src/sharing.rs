//! Which ranks of a host share memory, as its first rank has found out, and what it tells of its host: one value of a launcher's.
//!
//! `CORES` where all share memory, `CORES-` where no two do, else `CORES` and behind a dot each the ranks' numbers of their groups,
//! in order of rank. Behind `CORES` stands `+` if that rank announces something to the job.

use std::fmt;

use crate::hosts::Hosts;
use crate::job::Job;

/// A longer list is not told, for launchers bound the length of a value: no two of such a host's ranks share memory then.
const LIST_MAX_BYTES: usize = 500;

/// Which ranks of a host share memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharing {
    Together,
    Apart,
    /// A number for each rank, alike for those that do.
    Groups(Vec<u32>),
}

impl Sharing {
    /// From a number for each rank, alike for those that share memory.
    pub fn of(groups: Vec<u32>) -> Sharing {
        let is_first = |(index, group): (usize, &u32)| !groups[..index].contains(group);
        if groups.iter().all(|group| *group == groups[0]) {
            Sharing::Together
        } else if groups.iter().enumerate().all(is_first) {
            Sharing::Apart
        } else {
            Sharing::Groups(groups)
        }
    }

    /// The number of the group of a host's rank, by its position among the host's.
    fn group(&self, position: u32) -> u32 {
        match self {
            Sharing::Together => 0,
            Sharing::Apart => position,
            Sharing::Groups(groups) => groups[position as usize],
        }
    }
}

/// What the first rank of a host tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    pub cores: u32,
    /// Whether it announces something to the job, as the first of all may.
    pub announces: bool,
    pub sharing: Sharing,
}

impl fmt::Display for HostFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.cores, if self.announces { "+" } else { "" })?;
        match &self.sharing {
            Sharing::Together => Ok(()),
            Sharing::Apart => write!(f, "-"),
            Sharing::Groups(groups) => {
                let list: String = groups.iter().map(|group| format!(".{group}")).collect();
                f.write_str(if list.len() > LIST_MAX_BYTES {
                    "-"
                } else {
                    &list
                })
            }
        }
    }
}

impl HostFacts {
    /// Reads what was told of a host of so many ranks: another process's words.
    pub fn parse(text: &str, ranks: usize) -> Option<HostFacts> {
        let end = text.find(['-', '.']).unwrap_or(text.len());
        let (cores, rest) = text.split_at(end);
        let (cores, announces) = match cores.strip_suffix('+') {
            Some(cores) => (cores, true),
            None => (cores, false),
        };
        let sharing = match rest {
            "" => Sharing::Together,
            "-" => Sharing::Apart,
            _ => {
                let list = rest.strip_prefix('.')?.split('.');
                let groups = list.map(|group| group.parse().ok());
                let groups = groups.collect::<Option<Vec<u32>>>()?;
                (groups.len() == ranks).then_some(Sharing::Groups(groups))?
            }
        };
        let is_number = cores.bytes().all(|byte| byte.is_ascii_digit());
        let cores = cores.parse().ok().filter(|cores| is_number && *cores > 0)?;
        Some(HostFacts {
            cores,
            announces,
            sharing,
        })
    }
}

/// The job with each group of ranks that share memory as a host of its own; `hosts` has what is told of each host.
pub fn apart(job: &Job, hosts: &[HostFacts]) -> Job {
    let mut before = vec![0; hosts.len()];
    let group = |rank| {
        let host = job.hosts.of(rank) as usize;
        let position = before[host];
        before[host] += 1;
        (host, hosts[host].sharing.group(position))
    };
    let hosts = Hosts::named((0..job.size).map(group));
    Job {
        local_ranks: hosts.ranks(hosts.of(job.rank)).collect(),
        hosts,
        ..job.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Launcher;
    use proptest::prelude::*;

    fn facts(groups: &[u32]) -> HostFacts {
        HostFacts {
            cores: 3,
            announces: groups.len() == 2,
            sharing: Sharing::of(groups.to_vec()),
        }
    }

    proptest! {
        #[test]
        fn what_is_told_is_read(groups in prop::collection::vec(0u32..9, 1..40)) {
            let told = facts(&groups);
            prop_assert_eq!(HostFacts::parse(&told.to_string(), groups.len()), Some(told));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.+-]{0,20}", ranks in 1usize..5) {
            let _ = HostFacts::parse(&text, ranks);
        }
    }

    #[test]
    fn few_words_say_what_is_usual() {
        assert_eq!(facts(&[7]).to_string(), "3");
        assert_eq!(facts(&[0, 0]).to_string(), "3+");
        assert_eq!(facts(&[0, 1]).to_string(), "3+-");
        assert_eq!(facts(&[0, 0, 0]).to_string(), "3");
        assert_eq!(facts(&[0, 1, 2]).to_string(), "3-");
        assert_eq!(facts(&[0, 1, 0]).to_string(), "3.0.1.0");
        let many: Vec<u32> = (0..400).map(|rank| rank / 2).collect();
        assert_eq!(facts(&many).to_string(), "3-");
        for nonsense in [
            "", "-", "0", "3.", "3.0", "3.0.1.2", "3.x.1", "3--", "x", "+3", "3++", "+",
        ] {
            assert_eq!(HostFacts::parse(nonsense, 2), None, "{nonsense}");
        }
    }

    #[test]
    fn groups_are_hosts() {
        let hosts = Hosts::named([0, 1, 0, 1, 0, 1]);
        let job = Job {
            id: String::new(),
            rank: 4,
            size: 6,
            local_rank: 2,
            local_size: 3,
            local_ranks: vec![0, 2, 4],
            app_num: 0,
            universe_size: None,
            host_cores: None,
            launcher: Launcher::Pmi1,
            hosts,
        };
        let found = apart(&job, &[facts(&[0, 1, 0]), facts(&[0, 0, 0])]);
        assert_eq!((found.local_ranks, found.local_size), (vec![0, 4], 3));
        assert_eq!(found.hosts, Hosts::named([0, 1, 2, 1, 0, 1]));
    }
}
