//! What endpoints have taken, read from the device.

use serde::{Deserialize, Serialize};
use weft_verbs::Context;
use weft_verbs::abi::softrdma_stat;

use crate::{Error, Hardware, Objects, Resources};

/// What the endpoints of a process hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// As the device in software counts them; of other devices, as they were made.
    pub objects: Objects,
    /// Other devices do not tell.
    pub hardware: Option<Hardware>,
}

/// Tells of the endpoints of a process, also while threads drive them. It keeps their contexts open.
#[derive(Clone)]
pub struct Account {
    contexts: Vec<Context>,
    made: Objects,
}

impl Account {
    pub(crate) fn new(contexts: Vec<Context>, made: Objects) -> Account {
        Account { contexts, made }
    }

    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    pub fn usage(&self) -> Result<Usage, Error> {
        let mut sum = Resources::default();
        for context in &self.contexts {
            match context.account() {
                Ok(stat) => sum += resources(&stat),
                Err(error) if error.errno == EOPNOTSUPP => {
                    return Ok(Usage {
                        objects: self.made,
                        hardware: None,
                    });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Usage {
            objects: sum.objects,
            hardware: Some(sum.hardware),
        })
    }
}

const EOPNOTSUPP: i32 = 95;

fn resources(stat: &softrdma_stat) -> Resources {
    Resources {
        objects: Objects {
            contexts: stat.contexts,
            protection_domains: stat.pds,
            memory_regions: stat.mrs,
            queue_pairs: stat.qps,
            completion_queues: stat.cqs,
            thread_domains_level_1: stat.tds_level_1,
            thread_domains_level_2: stat.tds_level_2,
        },
        hardware: Hardware {
            static_uars: stat.static_uars,
            dynamic_uars: stat.dynamic_uars,
            static_uuars: stat.static_uuars,
            dynamic_uuars: stat.dynamic_uuars,
            used_uuars: stat.used_uuars,
        },
    }
}
