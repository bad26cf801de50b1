//! What endpoints take: objects of the library, and of the adapter's hardware.

use std::ops::{AddAssign, Mul};

use serde::{Deserialize, Serialize};

use crate::Sizes;

/// Objects by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    pub contexts: u64,
    /// Without parent domains, which are not the adapter's.
    pub protection_domains: u64,
    pub memory_regions: u64,
    pub queue_pairs: u64,
    pub completion_queues: u64,
    /// By level of sharing.
    pub thread_domains_level_1: u64,
    pub thread_domains_level_2: u64,
}

impl Objects {
    pub fn bytes(&self, sizes: &Sizes) -> u64 {
        self.contexts * sizes.context
            + self.protection_domains * sizes.protection_domain
            + self.memory_regions * sizes.memory_region
            + self.queue_bytes(sizes)
    }

    /// Of queue pairs and completion queues alone: the memory that the paper's figures and slides compare.
    pub fn queue_bytes(&self, sizes: &Sizes) -> u64 {
        self.queue_pairs * sizes.queue_pair + self.completion_queues * sizes.completion_queue
    }
}

/// UAR pages and the uUARs on them, two a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Pages that contexts have from the start, and those that came later.
    pub static_uars: u64,
    pub dynamic_uars: u64,
    pub static_uuars: u64,
    pub dynamic_uuars: u64,
    /// uUARs with at least one queue pair.
    pub used_uuars: u64,
}

impl Hardware {
    pub fn uars(&self) -> u64 {
        self.static_uars + self.dynamic_uars
    }

    pub fn uuars(&self) -> u64 {
        self.static_uuars + self.dynamic_uuars
    }

    pub fn wasted_uuars(&self) -> u64 {
        self.uuars() - self.used_uuars
    }

    /// Of 1.
    pub fn waste(&self) -> f64 {
        match self.uuars() {
            0 => 0.0,
            all => self.wasted_uuars() as f64 / all as f64,
        }
    }
}

/// Both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    pub objects: Objects,
    pub hardware: Hardware,
}

impl AddAssign for Objects {
    fn add_assign(&mut self, more: Objects) {
        self.contexts += more.contexts;
        self.protection_domains += more.protection_domains;
        self.memory_regions += more.memory_regions;
        self.queue_pairs += more.queue_pairs;
        self.completion_queues += more.completion_queues;
        self.thread_domains_level_1 += more.thread_domains_level_1;
        self.thread_domains_level_2 += more.thread_domains_level_2;
    }
}

impl AddAssign for Hardware {
    fn add_assign(&mut self, more: Hardware) {
        self.static_uars += more.static_uars;
        self.dynamic_uars += more.dynamic_uars;
        self.static_uuars += more.static_uuars;
        self.dynamic_uuars += more.dynamic_uuars;
        self.used_uuars += more.used_uuars;
    }
}

impl AddAssign for Resources {
    fn add_assign(&mut self, more: Resources) {
        self.objects += more.objects;
        self.hardware += more.hardware;
    }
}

/// As often.
impl Mul<u64> for Resources {
    type Output = Resources;

    fn mul(self, times: u64) -> Resources {
        let Resources { objects, hardware } = self;
        Resources {
            objects: Objects {
                contexts: objects.contexts * times,
                protection_domains: objects.protection_domains * times,
                memory_regions: objects.memory_regions * times,
                queue_pairs: objects.queue_pairs * times,
                completion_queues: objects.completion_queues * times,
                thread_domains_level_1: objects.thread_domains_level_1 * times,
                thread_domains_level_2: objects.thread_domains_level_2 * times,
            },
            hardware: Hardware {
                static_uars: hardware.static_uars * times,
                dynamic_uars: hardware.dynamic_uars * times,
                static_uuars: hardware.static_uuars * times,
                dynamic_uuars: hardware.dynamic_uuars * times,
                used_uuars: hardware.used_uuars * times,
            },
        }
    }
}
