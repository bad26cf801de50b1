//! Thread domains of a level, on libraries that know levels and on others.

use weft_verbs::{Context, ThreadDomain};

use crate::Level;

/// rdma-core's answer to the attribute `sharing`.
const EINVAL: i32 = 22;

/// A thread domain, and what is needed for it to be of its level.
pub(crate) struct Promise {
    pub used: ThreadDomain,
    /// The library was asked for the level, and gave it.
    pub is_of_level: bool,
    /// Libraries that know no levels put two thread domains on a page: a second one that nobody uses leaves the first alone on it.
    pub beside: Option<ThreadDomain>,
}

impl Promise {
    /// `asks_sharing`: whether the library may know levels; false from the first answer on that says it does not.
    pub fn new(
        context: &Context,
        level: Level,
        asks_sharing: &mut bool,
    ) -> Result<Promise, weft_verbs::Error> {
        if *asks_sharing {
            match ThreadDomain::with_sharing(context, level.number()) {
                Err(error) if error.errno == EINVAL => *asks_sharing = false,
                made => {
                    return Ok(Promise {
                        used: made?,
                        is_of_level: true,
                        beside: None,
                    });
                }
            }
        }
        Ok(Promise {
            used: ThreadDomain::new(context)?,
            is_of_level: false,
            beside: match level {
                Level::Page => Some(ThreadDomain::new(context)?),
                Level::Uuar => None,
            },
        })
    }
}
