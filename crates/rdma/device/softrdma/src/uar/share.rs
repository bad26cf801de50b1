//! A context's share of the adapter: its UAR pages, the uUARs on them and its figures.
//!
//! The UAR pages, the uUARs on them and who stands on which are behind one lock, taken when objects come and go and never
//! when work is posted. Objects give back what they have when they are dropped; pages go back to the device with the last of
//! a context and its objects, as with mlx5, whose pages stay until the context is closed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::adapter::{MAX_DYNAMIC_UUARS, UUARS_PER_PAGE};
use super::dynamic_uuars::{Class, DynamicUuars};
use super::error::Error;
use super::ledger::Ledger;
use super::lock::Discipline;
use super::pages::{Pages, Style};
use super::pool::PagePool;
use super::record::{Record, RecordKind, Tag, context_word};
use super::register::Uuar;
use super::settings::{Policy, Settings, Sharing};
use super::static_uuars::StaticUuars;
use super::thread_domains::{Lease, Order, ThreadDomainUuars};

pub(super) struct Share {
    pub(super) settings: Settings,
    figures: Figures,
    state: Mutex<State>,
}

struct State {
    pages: Pages,
    queue_pairs: QueuePairUuars,
    domains: ThreadDomainUuars,
}

enum QueuePairUuars {
    Static(StaticUuars),
    Dynamic(DynamicUuars),
}

/// A thread domain. Clones are the same domain: a parent domain keeps one, and so does a queue pair.
#[derive(Clone)]
pub struct ThreadDomain {
    inner: Arc<DomainInner>,
}

struct DomainInner {
    context: Arc<Share>,
    lease: Lease,
}

impl ThreadDomain {
    pub(super) fn new(share: &Arc<Share>, sharing: Sharing) -> Result<ThreadDomain, Error> {
        let lease = share.lease(sharing)?;
        share.count(domain_word(sharing), 1);
        Ok(ThreadDomain {
            inner: Arc::new(DomainInner {
                context: share.clone(),
                lease,
            }),
        })
    }

    /// The number of its uUAR in its context.
    pub fn uuar(&self) -> u32 {
        self.inner.lease.number
    }

    pub fn sharing(&self) -> Sharing {
        self.inner.lease.sharing
    }

    /// Gives the domain up, or answers it with [`Error::Busy`] while a clone of it lives.
    pub fn dealloc(self) -> Result<(), (Error, ThreadDomain)> {
        Arc::try_unwrap(self.inner).map(drop).map_err(|inner| {
            let error = Error::Busy("a parent domain holds the thread domain");
            (error, ThreadDomain { inner })
        })
    }
}

impl Drop for DomainInner {
    fn drop(&mut self) {
        self.context.lock().domains.give_back(self.lease);
        self.context.count(domain_word(self.lease.sharing), -1);
    }
}

fn domain_word(sharing: Sharing) -> usize {
    match sharing {
        Sharing::Page => context_word::TDS_LEVEL_1,
        Sharing::Uuar => context_word::TDS_LEVEL_2,
    }
}

impl State {
    fn new(settings: &Settings, pool: Arc<dyn PagePool>) -> Result<State, Error> {
        let (total, low) = (settings.total_uuars, settings.low_latency_uuars);
        let mut pages = Pages::new(pool);
        match settings.policy {
            Policy::Static => {
                let uuars = StaticUuars::new(total, low);
                for _ in 0..total / UUARS_PER_PAGE {
                    pages.add(|number| static_style(settings, &uuars, number))?;
                }
                Ok(State {
                    pages,
                    queue_pairs: QueuePairUuars::Static(uuars),
                    domains: ThreadDomainUuars::new(Order::LowestFirst, MAX_DYNAMIC_UUARS),
                })
            }
            Policy::Dynamic => {
                pages.add(|_| UNCACHED)?;
                Ok(State {
                    pages,
                    queue_pairs: QueuePairUuars::Dynamic(DynamicUuars::new(low, total - low)),
                    domains: ThreadDomainUuars::new(Order::FreedFirst, u32::MAX),
                })
            }
        }
    }
}

/// The page that a context of the dynamic policy has from the start.
const UNCACHED: Style = Style {
    takes_blueflame: false,
    lock: Discipline::Absent,
};

fn static_style(settings: &Settings, uuars: &StaticUuars, number: u32) -> Style {
    Style {
        takes_blueflame: number != 0,
        lock: lock_if(settings, uuars.needs_lock(number)),
    }
}

fn dynamic_style(settings: &Settings, class: Class) -> Style {
    Style {
        takes_blueflame: true,
        lock: lock_if(settings, class == Class::Shared),
    }
}

fn lock_if(settings: &Settings, is_needed: bool) -> Discipline {
    if is_needed && !settings.single_threaded {
        Discipline::Taken
    } else {
        Discipline::Absent
    }
}

impl Share {
    /// Takes the pages that a context has from the start.
    pub(super) fn new(
        settings: Settings,
        device: u8,
        pool: Arc<dyn PagePool>,
        ledger: Arc<Ledger>,
    ) -> Result<Share, Error> {
        let figures = Figures::new(ledger, device)?;
        let state = State::new(&settings, pool)?;
        figures.write_settings(&settings);
        figures.write_pages(&state, &settings);
        Ok(Share {
            settings,
            figures,
            state: Mutex::new(state),
        })
    }

    /// Counts the contexts of its process from 1.
    pub(super) fn number(&self) -> u32 {
        self.figures.number
    }

    /// Puts a queue pair outside of thread domains on the uUAR that the policy chooses.
    pub(super) fn assign(&self) -> Result<Arc<Uuar>, Error> {
        let mut guard = self.lock();
        let State {
            pages, queue_pairs, ..
        } = &mut *guard;
        let number = match queue_pairs {
            QueuePairUuars::Static(uuars) => uuars.assign(),
            // Without BlueFlame, today's driver puts all queue pairs on the uncached page.
            QueuePairUuars::Dynamic(_) if !self.settings.blueflame => 0,
            QueuePairUuars::Dynamic(uuars) => {
                uuars.assign(|class| pages.add(|_| dynamic_style(&self.settings, class)))?
            }
        };
        let uuar = pages.stand_on(number);
        self.figures.write_pages(&guard, &self.settings);
        Ok(uuar)
    }

    /// Puts a queue pair on the uUAR of a thread domain.
    pub(super) fn stand_on(&self, domain: &ThreadDomain) -> Arc<Uuar> {
        let mut state = self.lock();
        let uuar = state.pages.stand_on(domain.uuar());
        self.figures.write_pages(&state, &self.settings);
        uuar
    }

    /// Takes a queue pair away from `uuar`, where it stood by the policy's choice or as one of a thread domain.
    pub(super) fn leave(&self, uuar: &Uuar, in_domain: bool) {
        let mut guard = self.lock();
        let state = &mut *guard;
        state.pages.leave(uuar.number);
        match &mut state.queue_pairs {
            _ if in_domain => {}
            QueuePairUuars::Static(uuars) => uuars.release(uuar.number),
            QueuePairUuars::Dynamic(_) if !self.settings.blueflame => {}
            QueuePairUuars::Dynamic(uuars) => uuars.release(uuar.number),
        }
        self.figures.write_pages(&guard, &self.settings);
    }

    /// A uUAR for a thread domain.
    fn lease(&self, sharing: Sharing) -> Result<Lease, Error> {
        let mut guard = self.lock();
        let State { pages, domains, .. } = &mut *guard;
        // A domain's uUAR has one thread, so it has no lock.
        let style = Style {
            takes_blueflame: true,
            lock: Discipline::Absent,
        };
        let lease = domains.lease(sharing, || pages.add(|_| style))?;
        self.figures.write_pages(&guard, &self.settings);
        Ok(lease)
    }

    /// A record for the figures of an object of this context.
    pub(super) fn object_record(&self) -> Result<&'static Record, Error> {
        self.figures.take(RecordKind::Object)
    }

    /// Adds an object's figures to those of all that are gone, and gives its record back.
    pub(super) fn retire(&self, record: &'static Record) {
        let _one_writer = self.lock();
        self.figures.retired.absorb(record);
        self.figures.ledger.give_back(record);
    }

    /// Adds `more` to a count of the context's record.
    pub(super) fn count(&self, word: usize, more: i64) {
        let _one_writer = self.lock();
        self.figures.context.add(word, more as u64);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A context's own records. Written under its lock.
struct Figures {
    ledger: Arc<Ledger>,
    device: u8,
    number: u32,
    context: &'static Record,
    retired: &'static Record,
}

impl Figures {
    fn new(ledger: Arc<Ledger>, device: u8) -> Result<Figures, Error> {
        let number = ledger.next_context();
        let take = |kind| take_record(&ledger, device, number, kind);
        let context = take(RecordKind::Context)?;
        let retired = take(RecordKind::Retired).inspect_err(|_| ledger.give_back(context))?;
        Ok(Figures {
            ledger,
            device,
            number,
            context,
            retired,
        })
    }

    fn take(&self, kind: RecordKind) -> Result<&'static Record, Error> {
        take_record(&self.ledger, self.device, self.number, kind)
    }

    fn write_settings(&self, settings: &Settings) {
        let policy = match settings.policy {
            Policy::Static => 0,
            Policy::Dynamic => 1,
        };
        let (total, low) = (settings.total_uuars, settings.low_latency_uuars);
        let packed = policy | u64::from(total) << 8 | u64::from(low) << 24;
        self.context.set(context_word::SETTINGS, packed);
    }

    fn write_pages(&self, state: &State, settings: &Settings) {
        let from_the_start = match settings.policy {
            Policy::Static => settings.total_uuars / UUARS_PER_PAGE,
            Policy::Dynamic => 1,
        };
        let added = state.pages.count() - from_the_start;
        for (word, value) in [
            (context_word::STATIC_PAGES, from_the_start),
            (context_word::DYNAMIC_PAGES, added),
            (context_word::STATIC_UUARS, from_the_start * UUARS_PER_PAGE),
            (context_word::DYNAMIC_UUARS, added * UUARS_PER_PAGE),
            (context_word::USED_UUARS, state.pages.used_uuars()),
        ] {
            self.context.set(word, u64::from(value));
        }
    }
}

impl Drop for Figures {
    fn drop(&mut self) {
        self.ledger.give_back(self.context);
        self.ledger.give_back(self.retired);
    }
}

fn take_record(
    ledger: &Ledger,
    device: u8,
    context: u32,
    kind: RecordKind,
) -> Result<&'static Record, Error> {
    let tag = Tag {
        kind,
        device,
        context,
    };
    ledger
        .take(tag)
        .ok_or_else(|| Error::Exhausted("no memory for figures".to_owned()))
}
