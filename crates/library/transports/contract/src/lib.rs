//! What every transport between hosts keeps to, as tests that each one runs: `weft_contract::tests!(Tcp)`.
//!
//! Several fabrics are in one process, each with one lane and a sink that remembers ([`Process`]); a transport says how they are made
//! ([`Tested`]). What a transport has beside the contract it tests with the same processes.

mod accesses;
mod endings;
mod layouts;
mod packets;
mod process;
mod random;
mod transfers;

pub use accesses::{
    access, accesses_wait_for_room, expose, exposed_memory_is_written_and_read,
    what_is_not_exposed_is_not_accessed,
};
pub use endings::{
    a_goodbye_is_no_death, a_peer_without_a_card_is_lost, both_may_connect_at_once,
    connecting_waits_for_no_process, what_a_lost_peer_has_to_do_with_is_not_told,
};
pub use layouts::{Scattered, strided};
pub use packets::{
    an_unready_receiver_holds, every_length_arrives, random_traffic, send_with_writes_the_payload,
    throttled_packets_are_refused_until_the_peer_resumes,
};
pub use process::{Cards, Log, Process, Tested, World, link, linked_pair, pair, turn, world};
pub use random::Random;
pub use transfers::{
    a_transfer_nobody_wants_yet_holds_up_no_other, bulk_of_every_length_arrives,
    less_may_be_wanted_than_there_is, memory, offer, offer_bytes, offer_from,
    scattered_memory_is_sent_and_received, take, take_back_often, transfers_can_be_taken_back,
};

/// The contract's tests of a transport.
#[macro_export]
macro_rules! tests {
    ($fabric:ty) => {
        $crate::tests!($fabric:
            every_length_arrives
            send_with_writes_the_payload
            random_traffic
            throttled_packets_are_refused_until_the_peer_resumes
            bulk_of_every_length_arrives
            a_transfer_nobody_wants_yet_holds_up_no_other
            less_may_be_wanted_than_there_is
            transfers_can_be_taken_back
            scattered_memory_is_sent_and_received
            a_peer_without_a_card_is_lost
            both_may_connect_at_once
            connecting_waits_for_no_process
            a_goodbye_is_no_death
            what_a_lost_peer_has_to_do_with_is_not_told
        );
    };
    ($fabric:ty: $($name:ident)*) => {
        $(
            #[test]
            pub(super) fn $name() {
                $crate::$name::<$fabric>();
            }
        )*
    };
}
