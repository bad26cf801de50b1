//! A list of prices for each kind of group of ranks.

use crate::{Prices, builtin};

/// The kinds of groups whose ranks pay alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Ranks with a core each.
    Far,
    /// The same on cores that are so near each other that bytes are better passed on than copied by the kernel.
    Near,
    /// Ranks that share cores.
    SharedCores,
    /// Ranks that share no memory, with a core each.
    Network,
    /// Ranks that share no memory, but cores.
    NetworkOfSharedCores,
}

impl Group {
    pub const ALL: [Group; 5] = [
        Group::Far,
        Group::Near,
        Group::SharedCores,
        Group::Network,
        Group::NetworkOfSharedCores,
    ];

    /// As files call it.
    pub fn name(self) -> &'static str {
        match self {
            Group::Far => "far",
            Group::Near => "near",
            Group::SharedCores => "shared_cores",
            Group::Network => "network",
            Group::NetworkOfSharedCores => "network_of_shared_cores",
        }
    }
}

/// What a process goes by.
#[derive(Clone, Debug, PartialEq)]
pub struct Lists([Prices; Group::ALL.len()]);

impl Lists {
    pub const BUILT_IN: Lists = Lists([
        builtin::FAR,
        builtin::NEAR,
        builtin::SHARED_CORES,
        builtin::NETWORK,
        builtin::NETWORK_OF_SHARED_CORES,
    ]);

    pub fn of(&self, group: Group) -> &Prices {
        &self.0[group as usize]
    }

    /// With other prices for one kind of group.
    pub fn with(mut self, group: Group, prices: Prices) -> Lists {
        self.0[group as usize] = prices;
        self
    }
}
