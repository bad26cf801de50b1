//! What a category gives threads that make their queue pairs as they need them, one for each peer that they talk to.

use weft_verbs::{Context, Device, ParentDomain, ProtectionDomain, ThreadDomain};

use crate::promise::Promise;
use crate::usage::Account;
use crate::{Adapter, Category, Error, Hardware, Layout, LayoutError, Level, Objects, plan};

/// The contexts and domains of a category, made lane by lane. A lane stands for what the paper calls a thread.
pub struct Lanes {
    device: Device,
    category: Category,
    layout: Layout,
    /// Those that are made, and the contexts that are open for them.
    made: usize,
    contexts: Vec<Context>,
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
        let common = ProtectionDomain::new(&device.open()?)?;
        Ok(Lanes {
            device: device.clone(),
            category,
            made: 0,
            contexts: vec![common.context().clone()],
            common,
            asks_sharing: true,
            is_common_taken: false,
            layout,
        })
    }

    /// The first lane's context, for what is no lane's.
    pub fn context(&self) -> &Context {
        self.common.context()
    }

    /// UAR pages and uUARs of the contexts: as the device counts them; of devices that do not tell, as the lanes that there are were
    /// planned.
    pub fn hardware(&self) -> Result<Hardware, Error> {
        let account = Account::new(self.contexts.clone(), Objects::default());
        match (account.usage()?.hardware, self.made) {
            (Some(counted), _) => Ok(counted),
            (None, 0) => Ok(Hardware::default()),
            (None, made) => Ok(plan(self.category, made, 1, &Adapter::TODAY)?.rank.hardware),
        }
    }

    /// What the next lane has.
    pub fn lane(&mut self) -> Result<Lane, Error> {
        let shares = self.layout.context > 1 || !self.is_common_taken;
        self.is_common_taken = true;
        let domain = match shares {
            true => self.common.clone(),
            false => {
                let context = self.device.open()?;
                self.contexts.push(context.clone());
                ProtectionDomain::new(&context)?
            }
        };
        let mut unused = Vec::new();
        let parent = match self.layout.thread_domain {
            None => None,
            Some(level) => Some(self.parent(&domain, level, &mut unused)?),
        };
        self.made += 1;
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
