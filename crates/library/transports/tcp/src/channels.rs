//! A lane's connections to one peer.

use crate::channel::Channel;
use crate::handshake::Purpose;

/// Those that there are: the first two always, though they may not stand yet.
#[derive(Default)]
pub struct Channels {
    pub lane: Channel,
    pub bulk: Channel,
    /// By other interfaces than `bulk`. One that is over stays, without a socket: something may still name it.
    stripes: Vec<(u8, Channel)>,
}

impl Channels {
    /// The one for a purpose, which for stripes was [added](Self::add_stripe).
    pub fn of(&mut self, purpose: Purpose) -> &mut Channel {
        match purpose {
            Purpose::Packets => &mut self.lane,
            Purpose::Bulk => &mut self.bulk,
            Purpose::Stripe(number) => {
                let found = self.stripes.iter_mut().find(|(other, _)| *other == number);
                &mut found.expect("a stripe that was added").1
            }
        }
    }

    pub fn at(&self, purpose: Purpose) -> &Channel {
        match purpose {
            Purpose::Packets => &self.lane,
            Purpose::Bulk => &self.bulk,
            Purpose::Stripe(number) => {
                let found = self.stripes.iter().find(|(other, _)| *other == number);
                &found.expect("a stripe that was added").1
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Channel> {
        let stripes = self.stripes.iter().map(|(_, channel)| channel);
        [&self.lane, &self.bulk].into_iter().chain(stripes)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Channel> {
        let stripes = self.stripes.iter_mut().map(|(_, channel)| channel);
        [&mut self.lane, &mut self.bulk].into_iter().chain(stripes)
    }

    /// The connections that stand.
    pub fn count(&self) -> usize {
        self.iter().filter(|one| one.socket.is_some()).count()
    }

    pub fn add_stripe(&mut self, number: u8) {
        self.stripes.push((number, Channel::default()));
    }

    /// Whether there is, or was, a stripe of that number.
    pub fn has_stripe(&self, number: u8) -> bool {
        self.stripes.iter().any(|(other, _)| *other == number)
    }

    /// The numbers of the stripes that stand.
    pub fn stripes(&self) -> impl Iterator<Item = u8> {
        let standing = self.stripes.iter();
        let standing = standing.filter(|(_, channel)| channel.socket.is_some());
        standing.map(|&(number, _)| number)
    }

    /// Ends a stripe, with all that waits on it. Whether it stood.
    pub fn end_stripe(&mut self, number: u8) -> bool {
        let found = self.stripes.iter_mut().find(|(other, _)| *other == number);
        found.is_some_and(|(_, channel)| {
            let stood = channel.socket.is_some();
            channel.drop_all();
            stood
        })
    }
}
