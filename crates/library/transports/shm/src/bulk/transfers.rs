//! A table of transfers in one direction, each in one of some states, and moving those along that can move.

use std::collections::VecDeque;

use weft_transport::{Cookie, Lost, Peer};

use super::common::Common;
use super::control::TransferId;
use super::ways::{Part, Step};
use crate::links::Links;

/// What a table needs to know of a transfer.
pub trait Transfer {
    fn peer(&self) -> Peer;

    fn cookie(&self) -> Cookie;

    /// What this side has to do now; none if the other side is to answer first.
    fn part(&mut self) -> Option<&mut dyn Part>;

    fn step(&mut self, links: &mut Links, budget: usize) -> Step;

    /// It cannot go on this way: it goes another, for which the other side is to answer first.
    fn change_way(&mut self, id: TransferId, common: &mut Common);

    /// All was moved.
    fn finish(self, common: &mut Common);

    /// Gives back what it has used, before its end.
    fn abandon(self, common: &mut Common);
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
    finished: VecDeque<(Peer, Cookie)>,
}

impl<T: Transfer> Transfers<T> {
    pub fn new() -> Transfers<T> {
        Transfers {
            table: Vec::new(),
            free: Vec::new(),
            number: 0,
            active: Vec::new(),
            finished: VecDeque::new(),
        }
    }

    /// A name for a transfer that is then entered.
    pub fn name(&mut self) -> TransferId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.table.push(None);
            self.table.len() as u32 - 1
        });
        self.number = self.number.wrapping_add(1);
        TransferId::new(place, self.number)
    }

    pub fn enter(&mut self, id: TransferId, transfer: T) {
        self.table[id.place() as usize] = Some(Entry { id, transfer });
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
            self.report(transfer.peer(), transfer.cookie());
        }
    }

    /// A transfer that is in no table is done.
    pub fn report(&mut self, peer: Peer, cookie: Cookie) {
        self.finished.push_back((peer, cookie));
    }

    pub fn pop_finished(&mut self) -> Option<Cookie> {
        self.finished.pop_front().map(|(_, cookie)| cookie)
    }

    pub fn is_active(&self) -> bool {
        !self.active.is_empty() || !self.finished.is_empty()
    }

    fn remove(&mut self, place: u32) -> Option<T> {
        let entry = self.table[place as usize].take()?;
        self.free.push(place);
        Some(entry.transfer)
    }

    /// Moves active transfers along by up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, common: &mut Common, mut budget: usize) -> bool {
        let mut moved = false;
        let mut index = 0;
        while let Some(&place) = self.active.get(index)
            && budget > 0
        {
            let Some(entry) = &mut self.table[place as usize] else {
                index += 1;
                continue;
            };
            match entry.transfer.step(links, budget) {
                Step::Idle => {
                    index += 1;
                    continue;
                }
                Step::Moved(bytes) => {
                    budget = budget.saturating_sub(bytes);
                    index += 1;
                }
                Step::Stuck => {
                    self.active.swap_remove(index);
                    entry.transfer.change_way(entry.id, common);
                }
                Step::Finished => {
                    self.active.swap_remove(index);
                    if let Some(transfer) = self.remove(place) {
                        self.report(transfer.peer(), transfer.cookie());
                        transfer.finish(common);
                    }
                }
                Step::Lost(lost) => self.lose(index, lost, links, common),
            }
            moved = true;
        }
        // The transfer that is last in this turn is first in the next.
        if self.active.len() > 1 {
            self.active.rotate_left(1);
        }
        moved
    }

    /// Ends the active transfer at `index`, whose peer is lost.
    #[cold]
    fn lose(&mut self, index: usize, lost: Lost, links: &mut Links, common: &mut Common) {
        let place = self.active.swap_remove(index);
        if let Some(transfer) = self.remove(place) {
            links.lose(lost, transfer.peer());
            transfer.abandon(common);
        }
    }

    /// Ends the transfers that `which` chooses, without a word to the engine.
    fn drop_if(&mut self, common: &mut Common, which: impl Fn(&T) -> bool) {
        for place in 0..self.table.len() as u32 {
            let entry = self.table[place as usize].as_ref();
            if entry.is_some_and(|entry| which(&entry.transfer)) {
                self.active.retain(|&other| other != place);
                if let Some(transfer) = self.remove(place) {
                    transfer.abandon(common);
                }
            }
        }
    }

    /// Ends one without a word to the engine, also if it has finished and was not told.
    pub fn cancel(&mut self, common: &mut Common, peer: Peer, cookie: Cookie) {
        let of = (peer, cookie);
        self.finished.retain(|&done| done != of);
        self.drop_if(common, |transfer| {
            (transfer.peer(), transfer.cookie()) == of
        });
    }

    /// As [`cancel`](Self::cancel), all with `peer`.
    pub fn forget(&mut self, common: &mut Common, peer: Peer) {
        self.finished.retain(|&(other, _)| other != peer);
        self.drop_if(common, |transfer| transfer.peer() == peer);
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        let mut ready = !self.finished.is_empty();
        self.each_part(|part| ready |= part.wait());
        ready
    }

    pub fn end_wait(&mut self) {
        self.each_part(|part| part.end_wait());
    }

    fn each_part(&mut self, mut f: impl FnMut(&mut dyn Part)) {
        for &place in &self.active {
            let entry = self.table[place as usize].as_mut();
            if let Some(part) = entry.and_then(|entry| entry.transfer.part()) {
                f(part);
            }
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.table.iter().flatten().map(|entry| &entry.transfer)
    }
}
