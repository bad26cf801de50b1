//! What members say to each other.

use serde::{Deserialize, Serialize};

/// A member's number.
pub type Member = u32;

/// Words of which the greatest is agreed on.
pub const WORDS: usize = 4;

/// What is combined over all that contribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Values {
    /// The bits that all have set, by each side of an inter-communicator: one contributes all bits to the other.
    pub bits: [u32; 2],
    /// The greatest of each.
    pub words: [i64; WORDS],
}

impl Values {
    /// What changes nothing when it is combined.
    pub const NEUTRAL: Values = Values {
        bits: [u32::MAX; 2],
        words: [i64::MIN; WORDS],
    };

    pub fn combine(&mut self, other: &Values) {
        for (own, other) in self.bits.iter_mut().zip(other.bits) {
            *own &= other;
        }
        for (own, other) in self.words.iter_mut().zip(other.words) {
            *own = (*own).max(other);
        }
    }
}

/// A member's part of an agreement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contribution {
    pub values: Values,
    /// The failures that its program has acknowledged, in ascending order.
    pub acknowledged: Vec<Member>,
}

/// What all living members have agreed on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    pub values: Values,
    /// In ascending order.
    pub failed: Vec<Member>,
    /// Whether every contributor had acknowledged all failures.
    pub is_acknowledged: bool,
    /// All members have taken their decisions of earlier agreements.
    pub floor: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    Contribution {
        own: Contribution,
        failed: Vec<Member>,
        /// The first agreement whose decision the member has not taken.
        floor: u64,
    },
    /// Of a coordinator that follows another: who has the decision answers with it.
    Query {
        failed: Vec<Member>,
    },
    Decision(Decision),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The agreement's number.
    pub number: u64,
    pub body: Body,
}

impl Message {
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("numbers and lists of them can be written")
    }

    /// Of `members`; none if the bytes are no message of theirs.
    pub fn parse(bytes: &[u8], members: u32) -> Option<Message> {
        let (message, rest) = postcard::take_from_bytes::<Message>(bytes).ok()?;
        let lists: [&[Member]; 2] = match &message.body {
            Body::Contribution { own, failed, .. } => [&own.acknowledged, failed],
            Body::Query { failed } => [failed, &[]],
            Body::Decision(decision) => [&decision.failed, &[]],
        };
        let is_list = |list: &[Member]| {
            let ascends = list.windows(2).all(|pair| pair[0] < pair[1]);
            ascends && list.last().is_none_or(|&last| last < members)
        };
        (rest.is_empty() && lists.into_iter().all(is_list)).then_some(message)
    }
}
