//! What an adapter has to give, and by which rules its driver gives it: mlx5's. `docs/uar-accounting.md` explains them.

use serde::{Deserialize, Serialize};

use crate::LayoutError;

/// How queue pairs outside of thread domains get their uUAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// All uUARs are there when the context is opened: the paper's, rdma-core before 29.
    Static,
    /// uUARs come with the queue pairs: today's.
    Dynamic,
}

/// Bytes of each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    pub context: u64,
    pub protection_domain: u64,
    pub memory_region: u64,
    pub queue_pair: u64,
    pub completion_queue: u64,
}

impl Sizes {
    /// Table I of the paper, with K = 1024. It does not say how deep the queues were.
    pub const TABLE_1: Sizes = Sizes {
        context: 256 * 1024,
        protection_domain: 144,
        memory_region: 144,
        queue_pair: 80 * 1024,
        completion_queue: 9 * 1024,
    };
}

/// An adapter and its driver's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adapter {
    pub policy: Policy,
    /// UAR pages of the device.
    pub uars: u32,
    /// Those that no program gets.
    pub reserved_uars: u32,
    /// uUARs of a context that are not thread domains' (`MLX5_TOTAL_UUARS`). Even.
    pub total_uuars: u32,
    /// Those of them that have one queue pair each (`MLX5_NUM_LOW_LAT_UUARS`). Fewer than all.
    pub low_latency_uuars: u32,
    /// UAR pages that the thread domains of one context may take, if that is limited.
    pub context_dynamic_uars: Option<u32>,
    /// Without it, today's driver puts all queue pairs outside of thread domains on one uUAR (`MLX5_SHUT_UP_BF`).
    pub has_blueflame: bool,
    /// Thread domains know the attribute `sharing`. Without it a UAR page of one's own costs two domains.
    pub has_sharing: bool,
    pub sizes: Sizes,
}

impl Adapter {
    /// The paper's ConnectX-4 and driver: 8192 UAR pages, of which 29 are taken to be the kernel's.
    pub const CONNECTX4: Adapter = Adapter {
        policy: Policy::Static,
        uars: 8192,
        reserved_uars: 29,
        total_uuars: 16,
        low_latency_uuars: 4,
        context_dynamic_uars: Some(512),
        has_blueflame: true,
        has_sharing: true,
        sizes: Sizes::TABLE_1,
    };

    /// The same adapter with today's driver, which has no attribute `sharing`.
    pub const TODAY: Adapter = Adapter {
        policy: Policy::Dynamic,
        context_dynamic_uars: None,
        has_sharing: false,
        ..Adapter::CONNECTX4
    };

    /// UAR pages for programs.
    pub fn free_uars(&self) -> u64 {
        u64::from(self.uars.saturating_sub(self.reserved_uars))
    }

    /// Whether a driver could be set so.
    pub fn check(&self) -> Result<(), LayoutError> {
        let refuse = |text: String| Err(LayoutError(text));
        let (total, low) = (self.total_uuars, self.low_latency_uuars);
        if total == 0 || total % 2 != 0 || total > 512 {
            return refuse(format!("{total} uUARs of a context: they are 2, 4, … 512"));
        }
        let least = total.saturating_sub(12);
        if low < least || low >= total {
            return refuse(format!(
                "{low} low-latency uUARs of {total}: they are {least} to {}",
                total - 1
            ));
        }
        if self.reserved_uars >= self.uars {
            return refuse(format!(
                "{} of {} UARs are reserved: none is left",
                self.reserved_uars, self.uars
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_driver_could_be_set_to_is_refused() {
        let with = |total_uuars, low_latency_uuars| {
            let adapter = Adapter {
                total_uuars,
                low_latency_uuars,
                ..Adapter::CONNECTX4
            };
            adapter.check()
        };
        for (total, low) in [(16, 4), (16, 15), (6, 2), (2, 0), (512, 500)] {
            with(total, low).unwrap();
        }
        for (total, low) in [(0, 0), (15, 4), (514, 510), (16, 3), (16, 16), (4, 4)] {
            with(total, low).unwrap_err();
        }
        let reserved = Adapter {
            reserved_uars: 8192,
            ..Adapter::CONNECTX4
        };
        reserved.check().unwrap_err();
    }
}
