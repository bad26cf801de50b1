//! Links that are made when they are first needed, outside the lane's section.

use weft_transport::loopback::Network;

use super::{engines, settle};
use crate::{Failure, RequestId};

const LIMIT: usize = 1000;

/// Messages of every protocol wait for the link in their order, and need no second thread to leave once it stands.
#[test]
fn messages_wait_in_order_for_their_link() {
    for first in [8, LIMIT, 5000] {
        let network = Network::on_demand(7, 64, LIMIT);
        let pair = engines(&network, 2);
        let sizes = [first, 8, 5000, LIMIT, 8];
        let mut data = sizes.map(|bytes| vec![bytes as u8; bytes]);
        let sends: Vec<RequestId> = data
            .iter_mut()
            .enumerate()
            .map(|(i, bytes)| pair[0].send_to(1, 7, bytes, i % 2 == 1))
            .collect();
        for bytes in sizes {
            let mut got = vec![0; 5000];
            let receive = pair[1].receive_from(0, 7, &mut got);
            assert_eq!(settle(&pair, 1, receive).bytes as usize, bytes);
            assert!(got[..bytes].iter().all(|&byte| byte == bytes as u8));
        }
        for send in sends {
            assert_eq!(settle(&pair, 0, send).failure, None);
        }
    }
}

/// The thread whose message finds no link makes it, and the message has left when the call returns.
#[test]
fn the_thread_that_is_refused_connects() {
    let network = Network::on_demand(7, 64, LIMIT);
    let pair = engines(&network, 2);
    let send = pair[0].send_to(1, 7, &mut [1; 8], false);
    assert!(pair[0].is_complete(send));
    pair[0].finish(send);
    let again = pair[0].send_to(1, 7, &mut [1; 8], false);
    assert_eq!(again, RequestId::DONE, "there is a link now");
}

#[test]
fn a_link_that_cannot_be_made_fails_what_waits_for_it() {
    for bytes in [8, 5000] {
        let network = Network::on_demand(7, 64, LIMIT);
        let pair = engines(&network, 3);
        network.kill(1);
        let mut data = vec![0; bytes];
        let send = pair[0].send_to(1, 7, &mut data, false);
        assert_eq!(settle(&pair[..1], 0, send).failure, Some(Failure::PeerLost));
        let other = pair[0].send_to(2, 7, &mut data, false);
        let mut got = vec![0; bytes];
        let receive = pair[2].receive_from(0, 7, &mut got);
        assert_eq!(settle(&pair, 0, other).failure, None);
        assert_eq!(settle(&pair, 2, receive).failure, None);
    }
}
