use weft_contract::an_unready_receiver_holds;

use crate::Rdma;
use crate::world::linked_pair;

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
