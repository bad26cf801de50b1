//! Connections by further interfaces than the first: when they are asked for, and how they end.
//!
//! They are sought once the connection for bulk data stands, by the lower rank, and again after a pause that doubles, when long messages
//! go, as an interface may have come up. What becomes of such a search nobody waits for.

use std::time::{Duration, Instant};

use super::Links;
use crate::frame::FrameKind;
use crate::handshake::{MOST_STRIPES, Purpose};
use crate::identity::ConnectionName as Name;
use crate::link::Seek;
use crate::shared::STRIPES;

/// Until the second search.
const PAUSE: Duration = Duration::from_secs(10);

impl Links {
    /// The connection for bulk data stands: others may go by further interfaces, if this host has some.
    pub(super) fn begin_to_seek(&mut self, link: usize) {
        let identity = &self.shared.identity;
        let told = &identity.told;
        let has_several = told.iter().any(|one| one.name != told[0].name);
        let there = self.links.at_mut(link).expect("just there");
        if has_several && identity.rank < there.peer && there.seeks.is_none() {
            there.seeks = Some(Seek {
                at: Instant::now(),
                pause: PAUSE,
                number: 0,
            });
            self.seek_if_due(link);
        }
    }

    /// Seeks further ways, if it is time.
    #[inline]
    pub(super) fn seek_if_due(&mut self, link: usize) {
        if self.links.at(link).is_some_and(|link| link.seeks.is_some()) {
            self.seek(link);
        }
    }

    #[cold]
    fn seek(&mut self, link: usize) {
        let lane = self.lane;
        let there = self.at(link);
        let Some(seek) = there.seeks.filter(|seek| Instant::now() >= seek.at) else {
            return;
        };
        if there.channels.stripes().count() >= STRIPES || seek.number >= MOST_STRIPES {
            return;
        }
        there.seeks = Some(Seek {
            at: Instant::now() + seek.pause,
            pause: 2 * seek.pause,
            number: seek.number.saturating_add(STRIPES as u8),
        });
        let standing = there.channels.iter().skip(1);
        let used = standing.filter_map(|channel| channel.path).collect();
        let name = Name {
            peer: there.peer,
            lane,
            purpose: Purpose::Stripe(seek.number),
        };
        let peer = there.peer;
        self.shared.want_beside(name, used);
        self.book.connect(peer);
    }

    /// A connection for stripes has failed here: the peer is told, and what it had goes by others.
    #[cold]
    pub(super) fn lose_stripe(&mut self, link: usize, number: u8) {
        let there = self.at(link);
        if there.end_stripe(number) {
            there.out().push(FrameKind::StripeOver, [number.into(), 0]);
            self.gather(link);
            self.stripes_lost(1);
            self.write_bulk(link);
        }
    }

    /// So many stood.
    pub(super) fn stripes_lost(&self, lost: usize) {
        let counts = self.counts();
        counts.stripes_lost.add(lost as u64);
        counts
            .stripes
            .set(counts.stripes.value().saturating_sub(lost as u64));
        counts
            .links
            .set(counts.links.value().saturating_sub(lost as u64));
    }
}
