//! A table of transfers in one direction, each in one of some states, and moving those along that can move.

use std::collections::VecDeque;

use weft_transport::{Cookie, Lost, Peer};

use super::control::TransferId;
use crate::links::Links;

/// What one step did to a transfer.
pub enum Step {
    Idle,
    Moved(usize),
    Finished,
    /// It cannot go on in its state.
    Refused,
    Lost(Lost),
}

/// What a table needs to know of a transfer.
pub trait Transfer {
    fn peer(&self) -> Peer;
    fn cookie(&self) -> Cookie;
}

struct Entry<T> {
    id: TransferId,
    transfer: T,
}

/// Transfers by place; places are used again. Those that have something to do are listed.
pub struct Transfers<T> {
    table: Vec<Option<Entry<T>>>,
    free: Vec<u32>,
    number: u32,
    active: Vec<u32>,
    pub finished: VecDeque<(Peer, Cookie)>,
    /// Those that could not go on in their states. They are not active.
    pub refused: Vec<(Peer, TransferId)>,
}

impl<T: Transfer> Transfers<T> {
    pub fn new() -> Transfers<T> {
        Transfers {
            table: Vec::new(),
            free: Vec::new(),
            number: 0,
            active: Vec::new(),
            finished: VecDeque::new(),
            refused: Vec::new(),
        }
    }

    pub fn enter(&mut self, transfer: T) -> TransferId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.table.push(None);
            self.table.len() as u32 - 1
        });
        self.number = self.number.wrapping_add(1);
        let id = TransferId::new(place, self.number);
        self.table[place as usize] = Some(Entry { id, transfer });
        id
    }

    /// The transfer of that name with `peer`.
    pub fn named(&mut self, peer: Peer, id: TransferId) -> Option<&mut T> {
        let entry = self.table.get_mut(id.place() as usize)?.as_mut()?;
        (entry.id == id && entry.transfer.peer() == peer).then_some(&mut entry.transfer)
    }

    /// From here on the transfer has something to do.
    pub fn activate(&mut self, id: TransferId) {
        self.active.push(id.place());
    }

    /// Ends a transfer that is not active: it is done.
    pub fn finish(&mut self, id: TransferId) {
        if let Some(transfer) = self.remove(id.place()) {
            let done = (transfer.peer(), transfer.cookie());
            self.finished.push_back(done);
        }
    }

    pub fn is_active(&self) -> bool {
        !self.active.is_empty() || !self.finished.is_empty()
    }

    fn remove(&mut self, place: u32) -> Option<T> {
        let entry = self.table[place as usize].take()?;
        self.free.push(place);
        Some(entry.transfer)
    }

    /// Moves active transfers along by up to about `budget` bytes. What has ended goes to `end`.
    pub fn go_on(
        &mut self,
        links: &mut Links,
        mut budget: usize,
        mut step: impl FnMut(&mut T, &mut Links, usize) -> Step,
        mut end: impl FnMut(T),
    ) -> bool {
        let mut moved = false;
        let mut index = 0;
        while let Some(&place) = self.active.get(index)
            && budget > 0
        {
            let Some(entry) = &mut self.table[place as usize] else {
                index += 1;
                continue;
            };
            match step(&mut entry.transfer, links, budget) {
                Step::Idle => {
                    index += 1;
                    continue;
                }
                Step::Moved(bytes) => {
                    budget = budget.saturating_sub(bytes);
                    index += 1;
                }
                Step::Finished => {
                    self.active.swap_remove(index);
                    if let Some(transfer) = self.remove(place) {
                        self.finished
                            .push_back((transfer.peer(), transfer.cookie()));
                        end(transfer);
                    }
                }
                Step::Refused => {
                    self.active.swap_remove(index);
                    self.refused.push((entry.transfer.peer(), entry.id));
                }
                Step::Lost(lost) => {
                    self.active.swap_remove(index);
                    if let Some(transfer) = self.remove(place) {
                        links.lose(lost, transfer.peer());
                        end(transfer);
                    }
                }
            }
            moved = true;
        }
        // The transfer that is last in this turn is first in the next.
        if self.active.len() > 1 {
            self.active.rotate_left(1);
        }
        moved
    }

    /// Ends the transfers that `which` chooses, without a word to the engine.
    pub fn drop_if(&mut self, which: impl Fn(&T) -> bool, mut end: impl FnMut(T)) {
        for place in 0..self.table.len() as u32 {
            let entry = self.table[place as usize].as_ref();
            if entry.is_some_and(|entry| which(&entry.transfer)) {
                self.active.retain(|&other| other != place);
                if let Some(transfer) = self.remove(place) {
                    end(transfer);
                }
            }
        }
    }

    /// As [`drop_if`](Self::drop_if), of all with `peer`, those included that have finished and were not told.
    pub fn forget(&mut self, peer: Peer, end: impl FnMut(T)) {
        self.finished.retain(|&(other, _)| other != peer);
        self.drop_if(|transfer| transfer.peer() == peer, end);
    }

    pub fn active(&self) -> impl Iterator<Item = &T> {
        self.active
            .iter()
            .filter_map(|&place| self.table[place as usize].as_ref())
            .map(|entry| &entry.transfer)
    }

    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.table.iter().flatten().map(|entry| &entry.transfer)
    }
}
