//! Which processes of a host can open each other's memory: those of one [view](crate::view), by their cards, where the first of the
//! host has tried its own.

use crate::card::Card;
use crate::fabric::Shm;
use crate::peers::open;

impl Shm {
    /// Of the ranks of the host, whose cards these are in order, which can open each other's memory: a number for each, alike for those
    /// that can. Asked of the first of them, which has tried the others that are expected to be with it.
    pub fn groups(&self, cards: &[Option<&str>]) -> Vec<u32> {
        let own = self.shared().position as usize;
        let cards: Vec<Option<Card>> = cards
            .iter()
            .map(|card| card.and_then(Card::parse))
            .collect();
        let view = |index: usize| cards[index].map_or(0, |card: Card| card.view);
        let group = |index: usize| {
            let first = (0..index).find(|&other| view(other) == view(index));
            let first = first.filter(|_| view(index) != 0)?;
            let is_reached = || cards[index].is_some_and(|card| open(&card).is_ok());
            (view(own) != view(index) || is_reached()).then_some(first)
        };
        let groups = (0..cards.len()).map(|index| group(index).unwrap_or(index) as u32);
        groups.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::world;

    #[test]
    fn processes_of_one_view_that_reach_each_other_are_together() {
        let processes = world(6, Default::default());
        let card = |rank: usize| processes[rank].fabric.shared().card;
        let text = |card: Card| Some(card.to_string());
        let with_view = |rank, view| Card { view, ..card(rank) };
        let elsewhere = Card {
            memfd: 999_999,
            ..card(5)
        };
        let cards = [
            text(card(0)),
            text(with_view(1, 7)),
            text(card(2)),
            text(with_view(3, 0)),
            text(with_view(4, 7)),
            text(elsewhere),
        ];
        let cards: Vec<_> = cards.iter().map(Option::as_deref).collect();
        let groups = processes[0].fabric.groups(&cards);
        assert_eq!(groups, [0, 1, 0, 3, 1, 5]);
        let unreadable = [cards[0], None, Some("shm1:nonsense"), cards[2]];
        assert_eq!(processes[0].fabric.groups(&unreadable), [0, 1, 2, 0]);
    }
}
