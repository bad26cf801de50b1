//! What machines charge for the kinds of work that collective algorithms are made of: a list of prices for each kind of
//! group of ranks. Those that are built in were fitted to the tables in `docs/results/by-algorithm`; a file, as
//! `weft tune` writes it, has those of another machine.

#![forbid(unsafe_code)]

mod announcement;
mod builtin;
mod file;
mod find;
mod lists;
mod machine;

pub use announcement::{announced, announcement};
pub use file::{File, LONGEST_FILE_BYTES, Origin};
pub use find::{BUILT_IN, Found, PRICES, find, own_file};
pub use lists::{Group, Lists};
pub use machine::Machine;

macro_rules! items {
    ($($(#[$says:meta])+ $item:ident $name:ident,)+) => {
        /// The kinds of work that are counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Item { $($(#[$says])+ $item),+ }

        /// The items' names in files, by number.
        pub const NAMES: [&str; [$(stringify!($name)),+].len()] = [$(stringify!($name)),+];

        /// Prices by their names, in ns.
        pub struct Named { $(pub $name: f64),+ }

        impl Named {
            pub const fn prices(self) -> Prices {
                let mut prices = [0.0; ITEMS];
                $(prices[Item::$item as usize] = self.$name;)+
                Prices(prices)
            }
        }
    };
}

items! {
    /// A message that a rank waits for, after which it does what others wait for.
    Round round,
    /// A step on the board that ranks wait for.
    Step step,
    /// A further message at a rank that sends to many, or receives from many.
    Message message,
    /// A byte copied into a packet, or out of one.
    PacketByte packet_byte,
    /// The same of two ranks that send to each other.
    ExchangedPacketByte exchanged_packet_byte,
    /// The same of a rank that sends to one and receives from another.
    PassedPacketByte passed_packet_byte,
    /// A message of more than a packet, beside its bytes.
    Long long,
    /// A byte of such a message.
    LongByte long_byte,
    /// The same of two ranks that send to each other.
    ExchangedLongByte exchanged_long_byte,
    /// The same of a rank that sends to one and receives from another.
    PassedLongByte passed_long_byte,
    /// A call that copies from another rank's memory, beside its bytes.
    Call call,
    /// A byte that such a call copies.
    CallByte call_byte,
    /// A byte that another rank copies from the same part of one rank's memory at the same time: the kernel lets one
    /// pass after the other.
    ContendedByte contended_byte,
    /// A post on the board, beside its bytes.
    Post post,
    /// A byte that is posted.
    PostedByte posted_byte,
    /// A look at what another has posted, beside copying it.
    Look look,
    /// A byte copied from where it was posted.
    LookedByte looked_byte,
    /// A byte of an operand that is combined from where it was posted.
    FoldedByte folded_byte,
    /// A byte of an operand in a rank's own memory that is combined.
    CombinedByte combined_byte,
    /// A byte copied within a rank's own memory.
    PackedByte packed_byte,
    /// Where ranks share cores: the turn of a core that each rank is given in a round.
    RoundTurn round_turn,
    /// The same in a step.
    StepTurn step_turn,
}

pub const ITEMS: usize = NAMES.len();

/// The time that each item takes on a machine, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices(pub [f64; ITEMS]);

impl Prices {
    /// What so many of each item take, in ns.
    #[inline]
    pub fn of(&self, counts: &[f64; ITEMS]) -> f64 {
        let priced = self.0.iter().zip(counts);
        priced.map(|(price, count)| price * count).sum()
    }
}
