//! Categories (MPI-5.0 §15.3.9): one of the whole library, and those within it.

use weft_error::Result;

use super::codes::{indexed, named};
use super::state::enter;
use super::{control, variables};

pub struct Category {
    pub name: &'static str,
    pub description: &'static str,
    controls: &'static [&'static str],
    performances: &'static [&'static str],
    categories: &'static [&'static str],
}

/// All of them, by index. They never change.
pub static ALL: [Category; 7] = [
    Category {
        name: "weft",
        description: "WeftMPI",
        controls: &[],
        performances: &[],
        categories: &[
            "weft_messages",
            "weft_lanes_and_matching",
            "weft_waiting",
            "weft_collectives",
            "weft_transports",
            "weft_files",
        ],
    },
    Category {
        name: "weft_messages",
        description: "How messages travel",
        controls: &[
            "weft_eager_bytes",
            "weft_ring_bytes",
            "weft_unexpected_bytes_limit",
            "weft_unexpected_messages_limit",
        ],
        performances: &[
            "weft_messages_*",
            "weft_packets_aggregated",
            "weft_bytes_unexpected",
        ],
        categories: &[],
    },
    Category {
        name: "weft_lanes_and_matching",
        description: "Lanes, posted receives and unexpected messages",
        controls: &["weft_lanes"],
        performances: &[
            "weft_lane*",
            "weft_matching_*",
            "weft_unexpected_*",
            "weft_posted_length",
        ],
        categories: &[],
    },
    Category {
        name: "weft_waiting",
        description: "Threads in calls that wait",
        controls: &["weft_spin_turns", "weft_yield_turns"],
        performances: &["weft_sleeps", "weft_background_wakes", "weft_waiting"],
        categories: &[],
    },
    Category {
        name: "weft_collectives",
        description: "Collective operations",
        controls: &["*_algorithm", "weft_prices"],
        performances: &["weft_arenas*"],
        categories: &[],
    },
    Category {
        name: "weft_transports",
        description: "Ways to other processes",
        controls: &[
            "weft_transport",
            "weft_adapters",
            "weft_endpoints",
            "weft_receive_pools",
            "weft_interface",
            "weft_network_timeout",
            "weft_trace",
        ],
        performances: &["weft_shm_*", "weft_tcp_*", "weft_rdma_*"],
        categories: &[],
    },
    Category {
        name: "weft_files",
        description: "Files",
        controls: &[],
        performances: &["weft_file_*"],
        categories: &[],
    },
];

/// The indices of the members. One that begins or ends with a star stands for all whose names end, or begin, so.
fn indices<'a>(
    members: &'static [&'static str],
    all: impl Iterator<Item = &'a str> + Clone,
) -> Vec<i32> {
    let named = |member: &&'static str| {
        let member = *member;
        let is_it = move |name: &str| match (member.strip_prefix('*'), member.strip_suffix('*')) {
            (Some(end), _) => name.ends_with(end),
            (_, Some(beginning)) => name.starts_with(beginning),
            _ => name == member,
        };
        all.clone()
            .enumerate()
            .filter(move |(_, name)| is_it(name))
            .map(|(index, _)| index as i32)
            .collect::<Vec<i32>>()
    };
    members.iter().flat_map(named).collect()
}

impl Category {
    pub fn controls(&self) -> Vec<i32> {
        indices(
            self.controls,
            control::ALL.iter().map(|variable| &*variable.name),
        )
    }

    pub fn performances(&self) -> Vec<i32> {
        let all = variables::ALL.iter().map(|variable| &*variable.name);
        indices(self.performances, all)
    }

    pub fn categories(&self) -> Vec<i32> {
        indices(self.categories, ALL.iter().map(|category| category.name))
    }
}

/// `MPI_T_category_get_info`.
pub fn at(index: i32) -> Result<&'static Category> {
    enter()?;
    indexed(&ALL, index)
}

/// `MPI_T_category_get_index`.
pub fn index(name: &[u8]) -> Result<i32> {
    enter()?;
    named(ALL.iter().map(|category| category.name), name).map(|index| index as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_in_one_category() {
        let mut controls: Vec<i32> = ALL.iter().flat_map(Category::controls).collect();
        let mut performances: Vec<i32> = ALL.iter().flat_map(Category::performances).collect();
        controls.sort_unstable();
        performances.sort_unstable();
        assert!(controls.into_iter().eq(0..control::ALL.len() as i32));
        assert!(performances.into_iter().eq(0..variables::ALL.len() as i32));
        for category in &ALL {
            assert_eq!(category.categories().len(), category.categories.len());
            let has_star = |names: &[&str]| names.iter().any(|name| name.contains('*'));
            let (controls, performances) = (category.controls, category.performances);
            assert!(has_star(controls) || category.controls().len() == controls.len());
            assert!(has_star(performances) || category.performances().len() == performances.len());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = control::ALL
            .iter()
            .map(|variable| &*variable.name)
            .collect();
        names.extend(variables::ALL.iter().map(|variable| &*variable.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
