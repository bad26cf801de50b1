//! The UAR pages of one context and the uUARs on them.
//!
//! uUARs are numbered in the order in which their pages came, two with each page. Pages go back to the device with the
//! context, never before.

use std::sync::Arc;

use super::adapter::UUARS_PER_PAGE;
use super::error::Error;
use super::lock::Discipline;
use super::pool::PagePool;
use super::register::Uuar;

pub(super) struct Pages {
    pool: Arc<dyn PagePool>,
    taken: Vec<u32>,
    uuars: Vec<Standing>,
}

/// A uUAR and how many queue pairs stand on it.
struct Standing {
    uuar: Arc<Uuar>,
    queue_pairs: u32,
}

/// What a uUAR takes and how it is guarded.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) takes_blueflame: bool,
    pub(super) lock: Discipline,
}

impl Pages {
    pub(super) fn new(pool: Arc<dyn PagePool>) -> Pages {
        Pages {
            pool,
            taken: Vec::new(),
            uuars: Vec::new(),
        }
    }

    /// Takes a page of the device; the numbers of its two uUARs.
    pub(super) fn add(&mut self, style: impl Fn(u32) -> Style) -> Result<[u32; 2], Error> {
        let page = self.pool.take().ok_or_else(no_page)?;
        let first = self.taken.len() as u32 * UUARS_PER_PAGE;
        self.taken.push(page);
        let numbers = [first, first + 1];
        for number in numbers {
            let Style {
                takes_blueflame,
                lock,
            } = style(number);
            self.uuars.push(Standing {
                uuar: Arc::new(Uuar::new(number, page, takes_blueflame, lock)),
                queue_pairs: 0,
            });
        }
        Ok(numbers)
    }

    /// Puts a queue pair on uUAR `number`.
    pub(super) fn stand_on(&mut self, number: u32) -> Arc<Uuar> {
        let standing = &mut self.uuars[number as usize];
        standing.queue_pairs += 1;
        standing.uuar.clone()
    }

    /// Takes a queue pair away from uUAR `number`.
    pub(super) fn leave(&mut self, number: u32) {
        self.uuars[number as usize].queue_pairs -= 1;
    }

    pub(super) fn count(&self) -> u32 {
        self.taken.len() as u32
    }

    /// uUARs with at least one queue pair.
    pub(super) fn used_uuars(&self) -> u32 {
        self.uuars.iter().filter(|s| s.queue_pairs > 0).count() as u32
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        for &page in &self.taken {
            self.pool.give_back(page);
        }
    }
}

fn no_page() -> Error {
    Error::Exhausted("the device has no UAR page left".to_owned())
}
