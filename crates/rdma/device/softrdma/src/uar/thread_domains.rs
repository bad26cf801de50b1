//! The uUARs of thread domains: one each, from pages that are added when there is none.
//!
//! A domain of level 2 takes any free uUAR, so that two domains share a page; one of level 1 takes a page of which both are
//! free, and no other domain gets the second. Pages stay with the context until it is closed.

use super::error::Error;
use super::settings::Sharing;

/// Which free uUAR a new domain gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lowest number (rdma-core 17 to 28).
    LowestFirst,
    /// The one that was freed first (rdma-core from 29 on).
    FreedFirst,
}

#[derive(Debug)]
pub struct ThreadDomainUuars {
    order: Order,
    /// The most uUARs that may ever be added.
    most: u32,
    added: u32,
    /// Pages' uUARs that no domain has, in the order in which they became free. A page appears once for each.
    free: Vec<Free>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    number: u32,
    /// The other uUAR of its page.
    sibling: u32,
}

/// The uUAR of a thread domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub number: u32,
    sibling: u32,
    pub sharing: Sharing,
}

impl ThreadDomainUuars {
    pub fn new(order: Order, most: u32) -> ThreadDomainUuars {
        ThreadDomainUuars {
            order,
            most,
            added: 0,
            free: Vec::new(),
        }
    }

    /// A uUAR for a new domain. `new_page` gives the two uUARs of a new page.
    pub fn lease(
        &mut self,
        sharing: Sharing,
        new_page: impl FnOnce() -> Result<[u32; 2], Error>,
    ) -> Result<Lease, Error> {
        let at = match self.choose(sharing) {
            Some(at) => at,
            None => self.add_page(new_page)?,
        };
        let Free { number, sibling } = self.free.remove(at);
        if sharing == Sharing::Page {
            self.free.retain(|free| free.number != sibling);
        }
        Ok(Lease {
            number,
            sibling,
            sharing,
        })
    }

    /// Takes back the uUAR of a domain that is gone.
    pub fn give_back(&mut self, lease: Lease) {
        let Lease {
            number,
            sibling,
            sharing,
        } = lease;
        self.free.push(Free { number, sibling });
        if sharing == Sharing::Page {
            self.free.push(Free {
                number: sibling,
                sibling: number,
            });
        }
    }

    /// The place of the free uUAR to take.
    fn choose(&self, sharing: Sharing) -> Option<usize> {
        let mut fitting = (0..self.free.len()).filter(|&at| match sharing {
            Sharing::Uuar => true,
            Sharing::Page => self.is_free(self.free[at].sibling),
        });
        match self.order {
            Order::FreedFirst => fitting.next(),
            Order::LowestFirst => fitting.min_by_key(|&at| self.free[at].number),
        }
    }

    fn is_free(&self, number: u32) -> bool {
        self.free.iter().any(|free| free.number == number)
    }

    /// Adds a page; the place of its first uUAR among the free ones.
    fn add_page(
        &mut self,
        new_page: impl FnOnce() -> Result<[u32; 2], Error>,
    ) -> Result<usize, Error> {
        if self.most - self.added < 2 {
            let most = self.most;
            return Err(Error::Exhausted(format!(
                "the thread domains of a context have at most {most} uUARs"
            )));
        }
        let [first, second] = new_page()?;
        self.added += 2;
        for (number, sibling) in [(first, second), (second, first)] {
            self.free.push(Free { number, sibling });
        }
        Ok(self.free.len() - 2)
    }
}
