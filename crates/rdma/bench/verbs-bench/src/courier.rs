//! Messages one by one, each with its completion: how the paper's applications communicate (Zambre 2018 §VII).

use weft_endpoint::{Endpoint, Error};
use weft_verbs::{Operation, Remote, SendList};

/// The requests of a thread, one for each of its buffers, filled in anew for each message.
pub struct Courier<'a> {
    pub endpoint: &'a mut Endpoint,
    requests: Vec<Vec<SendList>>,
    pub posted: u64,
}

impl<'a> Courier<'a> {
    pub fn new(endpoint: &'a mut Endpoint) -> Courier<'a> {
        // Where they go to is said with each message.
        let nowhere = Operation::Write(Remote { address: 0, key: 0 });
        let request = |queue: usize, slot: usize| {
            let mut list = SendList::with_room(1);
            let request = list.push(nowhere, endpoint.slot(slot).part(0, 1));
            request.signalled(true).id(endpoint.tag(queue, 1));
            list
        };
        let slots = endpoint.slots().len();
        let of_queue = |queue| (0..slots).map(|slot| request(queue, slot)).collect();
        let requests = (0..endpoint.queue_pairs()).map(of_queue).collect();
        Courier {
            endpoint,
            requests,
            posted: 0,
        }
    }

    /// Posts one message on `bytes` bytes of buffer `slot`, once there is room.
    pub fn post(
        &mut self,
        queue: usize,
        operation: Operation,
        slot: usize,
        (offset, bytes): (usize, usize),
    ) -> Result<(), Error> {
        let list = &mut self.requests[queue][slot];
        let part = self.endpoint.slot(slot).part(offset, bytes);
        list.at(0).operation(operation).local(part);
        while !self.endpoint.post(queue, list)? {
            if self.endpoint.poll()? == 0 {
                std::thread::yield_now();
            }
        }
        self.posted += 1;
        Ok(())
    }

    /// Waits until all that was posted is done.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.endpoint.drain()
    }
}
