//! Before and after a sleep.

use super::{Hot, Links};
use crate::system::Interest;

impl Links {
    /// Before a sleep: whether something is there already. Connections that wait for room end the sleep once there is some.
    pub fn arm(&mut self) -> bool {
        for hot in &mut self.hot {
            hot.turns = 0;
            if let Some(link) = self.links.at_mut(hot.place.link) {
                let channel = link.channel(hot.place.purpose);
                channel.wait_for(Interest::Reading, &self.poller, hot.place.token());
            }
        }
        self.wait_for_room(true);
        let links = &self.links;
        let has_room = |&link: &usize| links.at(link).is_some_and(|link| link.has_room());
        let is_unread = |hot: &Hot| {
            let link = links.at(hot.place.link);
            link.is_some_and(|link| link.channels.at(hot.place.purpose).has_unread())
        };
        self.shared.is_signalled(self.lane)
            || self.book.has_endings(&self.shared.endings)
            || self.book.has_news()
            || self.refused.iter().any(has_room)
            || self.hot.iter().any(is_unread)
    }

    pub fn disarm(&mut self) {
        self.wait_for_room(false);
    }

    fn wait_for_room(&mut self, waits: bool) {
        for place in &self.blocked {
            if let Some(link) = self.links.at_mut(place.link) {
                let channel = link.channel(place.purpose);
                let interest = match (waits, channel.is_stalled) {
                    (true, true) => Interest::Writing,
                    (true, false) => Interest::Both,
                    (false, _) => channel.interest_at_rest(),
                };
                channel.wait_for(interest, &self.poller, place.token());
            }
        }
    }
}
