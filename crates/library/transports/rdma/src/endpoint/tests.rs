use weft_contract::an_unready_receiver_holds;

use crate::Rdma;
use crate::world::linked_pair;

/// Tests that every kind of link passes.
pub(super) const OF_EVERY_LINK: [fn(); 13] = [
    every_length_arrives,
    send_with_writes_the_payload,
    bulk_of_every_length_arrives,
    random_traffic,
    a_transfer_nobody_wants_yet_holds_up_no_other,
    less_may_be_wanted_than_there_is,
    transfers_can_be_taken_back,
    scattered_memory_is_sent_and_received,
    what_an_unready_receiver_holds_has_a_bound,
    exposed_memory_is_written_and_read,
    accesses_wait_for_room,
    what_is_not_exposed_is_not_accessed,
    connecting_waits_for_no_process,
];

weft_contract::tests!(Rdma);
weft_contract::tests!(Rdma:
    exposed_memory_is_written_and_read
    accesses_wait_for_room
    what_is_not_exposed_is_not_accessed
);

#[test]
pub(super) fn what_an_unready_receiver_holds_has_a_bound() {
    an_unready_receiver_holds(linked_pair(), |_, b, sent| {
        // The receiver's buffers, and what one sender may have under way beside.
        let longest = b.fabric.pools().all().last().unwrap();
        assert_eq!(sent, u64::from(longest.count + longest.credits));
    });
}
