//! A bulk transfer that is taken up: what of it has come, and what is still to.

use weft_transport::Cookie;

use crate::sending::Stream;
use crate::stripes::Ranges;
use crate::user_memory::Target;

pub struct Taken {
    pub target: Target,
    pub cookie: Cookie,
    pub way: Stream,
    /// How much comes in all.
    pub expected: usize,
    /// How much has come in order.
    pub came: usize,
    /// How much comes in order where the rest comes in stripes.
    pub prefix: usize,
    /// What has come in stripes, if that is how it comes.
    pub stripes: Option<Ranges>,
}

impl Taken {
    /// Where the data end that come in order.
    pub fn end_in_order(&self) -> usize {
        match self.stripes {
            Some(_) => self.prefix,
            None => self.expected,
        }
    }

    /// So many bytes have come, in order or at their place.
    pub fn take(&mut self, at: Option<usize>, bytes: usize) {
        match (at, &mut self.stripes) {
            (Some(at), Some(stripes)) => stripes.add(at, at + bytes),
            _ => self.came += bytes,
        }
    }

    pub fn is_complete(&self) -> bool {
        let striped = self.stripes.as_ref().map_or(0, Ranges::bytes);
        self.came + striped == self.expected
    }
}
