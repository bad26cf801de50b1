//! The dynamic policy: uUARs come with the queue pairs, two with each page.
//!
//! What rdma-core has done since version 29 on kernels that let a program allocate UAR pages. There is nothing static but one
//! page without BlueFlame. A new queue pair gets
//! 1. a uUAR of its own that another queue pair left, the one left first;
//! 2. else, while fewer than `dedicated` exist, the first of a new page;
//! 3. else the shared uUAR with the fewest queue pairs, the oldest among equals, and while fewer than `shared` exist a new
//!    page of shared ones is added before the choice.
//!
//! Pages stay with the context until it is closed.

use std::collections::VecDeque;

use super::error::Error;

/// Whether a uUAR has one queue pair or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Dedicated,
    Shared,
}

#[derive(Debug)]
pub struct DynamicUuars {
    most_dedicated: u32,
    most_shared: u32,
    dedicated: u32,
    free_dedicated: VecDeque<u32>,
    /// Shared uUARs, oldest first, each with its number of queue pairs.
    shared: Vec<(u32, u32)>,
}

impl DynamicUuars {
    pub fn new(most_dedicated: u32, most_shared: u32) -> DynamicUuars {
        DynamicUuars {
            most_dedicated,
            most_shared,
            dedicated: 0,
            free_dedicated: VecDeque::new(),
            shared: Vec::new(),
        }
    }

    /// Puts a new queue pair on a uUAR; its number. `new_page` gives the two uUARs of a new page; its error is the queue
    /// pair's, even where there are others to share.
    pub fn assign(
        &mut self,
        mut new_page: impl FnMut(Class) -> Result<[u32; 2], Error>,
    ) -> Result<u32, Error> {
        if self.free_dedicated.is_empty() && self.dedicated < self.most_dedicated {
            let uuars = new_page(Class::Dedicated)?;
            self.dedicated += uuars.len() as u32;
            self.free_dedicated.extend(uuars);
        }
        if let Some(number) = self.free_dedicated.pop_front() {
            return Ok(number);
        }
        if (self.shared.len() as u32) < self.most_shared {
            let uuars = new_page(Class::Shared)?;
            self.shared.extend(uuars.map(|number| (number, 0)));
        }
        let (number, queue_pairs) = self
            .shared
            .iter_mut()
            .min_by_key(|entry| entry.1)
            .ok_or_else(|| Error::Exhausted("the context has no shared uUARs".to_owned()))?;
        *queue_pairs += 1;
        Ok(*number)
    }

    /// Takes a queue pair away from uUAR `number`.
    pub fn release(&mut self, number: u32) {
        match self.shared.iter_mut().find(|entry| entry.0 == number) {
            Some((_, queue_pairs)) => *queue_pairs -= 1,
            None => self.free_dedicated.push_back(number),
        }
    }
}
