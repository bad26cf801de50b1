//! Making the endpoints of a layout.

use std::sync::Arc;

use weft_verbs::abi::{
    IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_READ,
    IBV_ACCESS_REMOTE_WRITE, ibv_access_flags,
};
use weft_verbs::{
    Buffer, CompletionQueue, Context, Device, Domain, MemoryRegion, ParentDomain, ProtectionDomain,
    QueuePair, QueuePairAttributes, SoleQueues, ThreadDomain,
};

use crate::address::{Card, MemoryAddress, Port, QueuePairAddress};
use crate::endpoint::{Queues, Unused};
use crate::promise::Promise;
use crate::slot::{APART_BYTES, Slot};
use crate::tally::{self, Tally};
use crate::usage::{Account, Usage};
use crate::{Endpoint, Error, Layout, Level, Objects};

type Verbs<T> = Result<T, weft_verbs::Error>;

const ACCESS: ibv_access_flags = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC;

/// Its answer to what it does not have.
const EOPNOTSUPP: i32 = 95;

/// The endpoints of all threads of a process.
pub struct Endpoints {
    layout: Layout,
    threads: Vec<Endpoint>,
    account: Account,
}

impl Endpoints {
    /// Makes them all. On devices whose thread domains know no levels, a page of one's own is had by leaving every second domain
    /// unused.
    pub fn create(device: &Device, layout: &Layout) -> Result<Endpoints, Error> {
        Endpoints::make(device, layout, true)
    }

    /// As on a device whose thread domains know no levels, whether this one does or not.
    pub fn create_without_sharing(device: &Device, layout: &Layout) -> Result<Endpoints, Error> {
        Endpoints::make(device, layout, false)
    }

    fn make(device: &Device, layout: &Layout, asks_sharing: bool) -> Result<Endpoints, Error> {
        layout.check()?;
        Maker::new(device, layout, asks_sharing)?.make()
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Thread by thread.
    pub fn threads(&mut self) -> &mut [Endpoint] {
        &mut self.threads
    }

    /// For threads that outlive this value. Ask for the [`account`](Endpoints::account) first, if it is wanted.
    pub fn into_threads(self) -> Vec<Endpoint> {
        self.threads
    }

    pub fn account(&self) -> &Account {
        &self.account
    }

    /// What the device holds for them now.
    pub fn usage(&self) -> Result<Usage, Error> {
        self.account.usage()
    }

    /// What a peer must know to connect to these endpoints.
    pub fn card(&self) -> Result<Card, Error> {
        let slots = self.threads.iter().flat_map(Endpoint::slots);
        Ok(Card {
            port: Port::of(&self.account.contexts()[0])?,
            queue_pairs: self.places().map(|(thread, q)| thread.address(q)).collect(),
            memory: slots.map(|s| MemoryAddress::from(s.remote())).collect(),
        })
    }

    /// Connects each queue pair to the peer's of the same place.
    pub fn connect(&self, peer: &Card) -> Result<(), Error> {
        if peer.queue_pairs.len() != self.layout.queue_pairs() {
            return Err(Error::Card {
                ours: self.layout.queue_pairs(),
                theirs: peer.queue_pairs.len(),
            });
        }
        for ((thread, queue), to) in self.places().zip(&peer.queue_pairs) {
            thread.connect(queue, peer.port, *to)?;
        }
        Ok(())
    }

    /// Connects the queue pair at `place` to one at `port`, for peers that are not all in one process.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn connect_place(
        &self,
        place: usize,
        port: Port,
        peer: QueuePairAddress,
    ) -> Result<(), Error> {
        let each = self.layout.queue_pairs_each;
        let thread = place / each * self.layout.queue_pair;
        self.threads[thread].connect(place % each, port, peer)
    }

    /// Connects each queue pair to itself: what it writes, it writes into this process.
    pub fn connect_to_self(&self) -> Result<(), Error> {
        self.connect(&self.card()?)
    }

    /// Each queue pair once, with a thread that has it.
    fn places(&self) -> impl Iterator<Item = (&Endpoint, usize)> {
        let firsts = self.threads.iter().step_by(self.layout.queue_pair);
        firsts.flat_map(|thread| (0..self.layout.queue_pairs_each).map(move |q| (thread, q)))
    }
}

/// Objects that the threads to come may share.
struct Maker<'a> {
    layout: &'a Layout,
    asks_sharing: bool,
    made: Objects,
    contexts: Vec<Context>,
    domains: Vec<ProtectionDomain>,
    /// By number of a buffer, then by group of threads.
    regions: Vec<Vec<MemoryRegion>>,
    tallies: Option<Arc<[Tally]>>,
    /// Of the group of threads that is being made.
    used: Shared,
    unused: Shared,
}

/// What a thread may share with the next one.
#[derive(Default)]
struct Shared {
    completions: Vec<CompletionQueue>,
    queue_pairs: Vec<Arc<QueuePair>>,
}

impl<'a> Maker<'a> {
    fn new(device: &Device, layout: &'a Layout, asks_sharing: bool) -> Result<Maker<'a>, Error> {
        let contexts: Vec<Context> = (0..layout.groups(layout.context))
            .map(|_| device.open())
            .collect::<Verbs<_>>()?;
        let domain =
            |group| ProtectionDomain::new(&contexts[group * layout.domain / layout.context]);
        let domains: Vec<ProtectionDomain> = (0..layout.groups(layout.domain))
            .map(domain)
            .collect::<Verbs<_>>()?;
        let regions = (0..layout.buffers_each)
            .map(|_| regions(layout, &domains))
            .collect::<Verbs<Vec<_>>>()?;
        let made = Objects {
            contexts: contexts.len() as u64,
            protection_domains: domains.len() as u64,
            memory_regions: regions.iter().map(|same| same.len() as u64).sum(),
            ..Objects::default()
        };
        Ok(Maker {
            layout,
            asks_sharing,
            made,
            contexts,
            domains,
            regions,
            tallies: tally::tallies(layout),
            used: Shared::default(),
            unused: Shared::default(),
        })
    }

    fn make(mut self) -> Result<Endpoints, Error> {
        let threads = (0..self.layout.threads)
            .map(|thread| self.endpoint(thread))
            .collect::<Verbs<_>>()?;
        Ok(Endpoints {
            layout: self.layout.clone(),
            threads,
            account: Account::new(self.contexts, self.made),
        })
    }

    fn endpoint(&mut self, thread: usize) -> Verbs<Endpoint> {
        let layout = self.layout;
        let mut unused = Unused::default();
        let mut shared = std::mem::take(&mut self.used);
        let queues = self.queues(thread, &mut shared, &mut unused)?;
        self.used = shared;
        if layout.is_doubled {
            let mut shared = std::mem::take(&mut self.unused);
            unused.queues = Some(self.queues(thread, &mut shared, &mut unused)?);
            self.unused = shared;
        }
        let sizes = (
            layout.depth,
            layout.queue_pairs_each,
            layout.completion_depth,
        );
        let slots = self.slots(thread);
        let tallies = self.tallies.clone();
        Ok(Endpoint::new(thread, sizes, queues, slots, tallies, unused))
    }

    fn slots(&self, thread: usize) -> Vec<Slot> {
        let layout = self.layout;
        let group = thread / layout.region;
        let offset = place(layout, thread) - place(layout, group * layout.region);
        let slot =
            |regions: &Vec<MemoryRegion>| Slot::new(&regions[group], offset, layout.buffer_bytes);
        self.regions.iter().map(slot).collect()
    }

    /// The queues of a thread, with what it shares with the one before it.
    fn queues(&mut self, thread: usize, shared: &mut Shared, unused: &mut Unused) -> Verbs<Queues> {
        let layout = self.layout;
        match layout.thread_domain {
            Some(level) if layout.is_sole => self
                .sole(thread, |maker| maker.parent(thread, level, unused))
                .map(Queues::PromisedSole),
            None if layout.is_sole => self
                .sole(thread, |maker| Ok(maker.domain(thread)))
                .map(Queues::OwnSole),
            Some(level) => {
                let completions = self.completions(thread, shared)?;
                let pairs = self.pairs(thread, &completions, |maker| {
                    maker.parent(thread, level, unused)
                })?;
                Ok(Queues::Promised(pairs, completions))
            }
            None => {
                let completions = self.completions(thread, shared)?;
                if layout.queue_pair == 1 {
                    let pairs =
                        self.pairs(thread, &completions, |maker| Ok(maker.domain(thread)))?;
                    return Ok(Queues::Own(pairs, completions));
                }
                if thread.is_multiple_of(layout.queue_pair) {
                    let pairs =
                        self.pairs(thread, &completions, |maker| Ok(maker.domain(thread)))?;
                    shared.queue_pairs = pairs.into_iter().map(Arc::new).collect();
                }
                Ok(Queues::Shared(shared.queue_pairs.clone(), completions))
            }
        }
    }

    /// Completion queues of a thread: new ones, if it is the first on them.
    fn completions(&mut self, thread: usize, shared: &mut Shared) -> Verbs<Vec<CompletionQueue>> {
        let layout = self.layout;
        if thread.is_multiple_of(layout.completions) {
            let context = &self.contexts[thread / layout.context];
            let entries = self.entries(layout.completions);
            let queue = |_| CompletionQueue::new(context, entries, None);
            let each = layout.completion_queues_each;
            shared.completions = (0..each).map(queue).collect::<Verbs<_>>()?;
            self.made.completion_queues += each as u64;
        }
        Ok(shared.completions.clone())
    }

    /// Of a completion queue of so many threads.
    fn entries(&self, threads: usize) -> u32 {
        let layout = self.layout;
        let on_one = layout
            .queue_pairs_each
            .div_ceil(layout.completion_queues_each);
        u32::try_from(layout.completion_depth * threads * on_one).unwrap_or(u32::MAX)
    }

    fn pairs<D: Domain>(
        &mut self,
        thread: usize,
        completions: &[CompletionQueue],
        mut domain: impl FnMut(&mut Self) -> Verbs<D>,
    ) -> Verbs<Vec<QueuePair<D>>> {
        let attributes = self.attributes(thread);
        let mut pairs = Vec::new();
        for queue in 0..self.layout.queue_pairs_each {
            let reports = completions[queue % completions.len()].clone();
            let domain = domain(self)?;
            pairs.push(QueuePair::new(
                domain,
                reports.clone(),
                reports,
                None,
                &attributes,
            )?);
            self.made.queue_pairs += 1;
        }
        Ok(pairs)
    }

    fn sole<D: Domain>(
        &mut self,
        thread: usize,
        mut domain: impl FnMut(&mut Self) -> Verbs<D>,
    ) -> Verbs<Vec<SoleQueues<D>>> {
        let attributes = self.attributes(thread);
        let entries = self.entries(1);
        let context = self.contexts[thread / self.layout.context].clone();
        let each = self.layout.completion_queues_each;
        let mut sets = (0..each)
            .map(|_| SoleQueues::new(&context, entries))
            .collect::<Verbs<Vec<_>>>()?;
        self.made.completion_queues += each as u64;
        for queue in 0..self.layout.queue_pairs_each {
            let domain = domain(self)?;
            sets[queue % each].add(domain, &attributes)?;
            self.made.queue_pairs += 1;
        }
        Ok(sets)
    }

    fn attributes(&self, thread: usize) -> QueuePairAttributes {
        let layout = self.layout;
        let threads = layout.queue_pair.min(layout.threads - thread);
        QueuePairAttributes {
            send_depth: u32::try_from(layout.depth * threads).unwrap_or(u32::MAX),
            inline_bytes: u32::try_from(layout.inline_bytes).unwrap_or(u32::MAX),
            ..QueuePairAttributes::default()
        }
    }

    fn domain(&self, thread: usize) -> ProtectionDomain {
        self.domains[thread / self.layout.domain].clone()
    }

    /// A domain with a thread domain of that level.
    fn parent(&mut self, thread: usize, level: Level, unused: &mut Unused) -> Verbs<ParentDomain> {
        let promise = self.thread_domain(thread, level, unused)?;
        ParentDomain::new(&self.domain(thread), Some(promise))
    }

    fn thread_domain(
        &mut self,
        thread: usize,
        level: Level,
        unused: &mut Unused,
    ) -> Verbs<ThreadDomain> {
        let context = &self.contexts[thread / self.layout.context];
        let promise = Promise::new(context, level, &mut self.asks_sharing)?;
        match (promise.is_of_level, level) {
            (true, Level::Page) => self.made.thread_domains_level_1 += 1,
            _ => self.made.thread_domains_level_2 += 1,
        }
        if let Some(beside) = promise.beside {
            unused.domains.push(beside);
            self.made.thread_domains_level_2 += 1;
        }
        Ok(promise.used)
    }
}

/// Where a thread's buffer begins among those of all threads.
fn place(layout: &Layout, thread: usize) -> usize {
    let stride = match layout.is_packed {
        true => layout.buffer_bytes,
        false => layout.buffer_bytes.next_multiple_of(APART_BYTES),
    };
    thread / layout.buffer * stride
}

/// Memory of the library's, if it has such.
fn exposed(domain: &ProtectionDomain, bytes: usize) -> Verbs<Buffer> {
    match Buffer::from_library(domain, bytes) {
        Err(error) if error.errno == EOPNOTSUPP => Ok(Buffer::new(bytes)),
        made => made,
    }
}

/// One buffer for each thread that does not share it, and the regions over them.
fn regions(layout: &Layout, domains: &[ProtectionDomain]) -> Verbs<Vec<MemoryRegion>> {
    let last = layout.threads - 1;
    let bytes = place(layout, last) + layout.buffer_bytes;
    let memory = match layout.is_exposed {
        true => exposed(&domains[0], bytes)?,
        false => Buffer::new(bytes),
    };
    let region = |group| {
        let first = group * layout.region;
        let begin = place(layout, first);
        let end = place(layout, last.min(first + layout.region - 1)) + layout.buffer_bytes;
        let domain = &domains[first / layout.domain];
        MemoryRegion::of_part(domain, &memory, begin, end - begin, ACCESS)
    };
    (0..layout.groups(layout.region)).map(region).collect()
}
