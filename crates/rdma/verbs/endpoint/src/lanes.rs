//! What a category gives threads that make their queue pairs as they need them, one for each peer that they talk to.

use weft_verbs::{Context, Device, ParentDomain, ProtectionDomain, ThreadDomain};

use crate::promise::Promise;
use crate::{Category, Error, Layout, LayoutError, Level};

/// The contexts and domains of a category, made lane by lane. A lane stands for what the paper calls a thread.
pub struct Lanes {
    device: Device,
    layout: Layout,
    asks_sharing: bool,
    /// What all lanes share, unless each has a context.
    common: ProtectionDomain,
    /// Whether a lane has the common context.
    is_common_taken: bool,
}

/// What one lane's queue pairs and completion queue are made in.
pub struct Lane {
    pub domain: ProtectionDomain,
    /// With the lane's thread domain, if its category has such.
    pub parent: Option<ParentDomain>,
    /// Beside it, so that the category's pages are what the paper says.
    pub unused: Vec<ThreadDomain>,
}

impl Lanes {
    /// For up to `lanes` lanes of a category. [`Category::MpiThreads`] is refused: its queue pairs have several threads, and a lane
    /// has one at a time.
    pub fn open(device: &Device, category: Category, lanes: usize) -> Result<Lanes, Error> {
        let layout = category.layout(lanes);
        layout.check()?;
        if layout.queue_pair > 1 {
            let why = format!("{category}: its queue pairs are several lanes'");
            return Err(LayoutError(why).into());
        }
        Ok(Lanes {
            device: device.clone(),
            common: ProtectionDomain::new(&device.open()?)?,
            asks_sharing: true,
            is_common_taken: false,
            layout,
        })
    }

    /// The first lane's context, for what is no lane's.
    pub fn context(&self) -> &Context {
        self.common.context()
    }

    /// What the next lane has.
    pub fn lane(&mut self) -> Result<Lane, Error> {
        let shares = self.layout.context > 1 || !self.is_common_taken;
        self.is_common_taken = true;
        let domain = match shares {
            true => self.common.clone(),
            false => ProtectionDomain::new(&self.device.open()?)?,
        };
        let mut unused = Vec::new();
        let parent = match self.layout.thread_domain {
            None => None,
            Some(level) => Some(self.parent(&domain, level, &mut unused)?),
        };
        Ok(Lane {
            domain,
            parent,
            unused,
        })
    }

    fn parent(
        &mut self,
        domain: &ProtectionDomain,
        level: Level,
        unused: &mut Vec<ThreadDomain>,
    ) -> Result<ParentDomain, Error> {
        let context = domain.context();
        let used = Promise::new(context, level, &mut self.asks_sharing)?;
        unused.extend(used.beside);
        if self.layout.is_doubled {
            let second = Promise::new(context, level, &mut self.asks_sharing)?;
            unused.push(second.used);
            unused.extend(second.beside);
        }
        Ok(ParentDomain::new(domain, Some(used.used))?)
    }
}
