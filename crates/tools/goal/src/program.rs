//! What a rank does one after the other, as a program with nonblocking messages does it.

use crate::{Operation, Order, Rank, Until};

/// An operation begins once the one before it has begun, and all those that the rank waited for are over.
#[derive(Default)]
pub struct Program {
    rank: Rank,
    /// What the next operation has to wait for.
    waited: Vec<u32>,
}

impl Program {
    pub fn send(&mut self, to: usize, bytes: u64) -> u32 {
        let to = to as u32;
        self.push(Operation::Send { to, bytes, tag: 0 })
    }

    pub fn receive(&mut self, from: usize, bytes: u64) -> u32 {
        let from = from as u32;
        self.push(Operation::Receive {
            from,
            bytes,
            tag: 0,
        })
    }

    /// Computes, and goes on once that is over.
    pub fn calc(&mut self, ns: u64) {
        if ns > 0 {
            let calc = self.push(Operation::Calc { ns });
            self.wait(calc);
        }
    }

    pub fn wait(&mut self, operation: u32) {
        self.waited.push(operation);
    }

    /// Sends and receives at once.
    pub fn exchange(&mut self, (to, out): (usize, u64), (from, into): (usize, u64)) {
        let incoming = self.receive(from, into);
        let outgoing = self.send(to, out);
        self.wait(incoming);
        self.wait(outgoing);
    }

    pub fn send_and_wait(&mut self, to: usize, bytes: u64) {
        let sent = self.send(to, bytes);
        self.wait(sent);
    }

    pub fn receive_and_wait(&mut self, from: usize, bytes: u64) {
        let received = self.receive(from, bytes);
        self.wait(received);
    }

    pub fn finish(self) -> Rank {
        self.rank
    }

    fn push(&mut self, operation: Operation) -> u32 {
        let number = self.rank.operations.len() as u32;
        self.rank.operations.push(operation);
        let last = number.checked_sub(1);
        let begun = last.filter(|last| !self.waited.contains(last));
        let order = |before, until| Order {
            operation: number,
            before,
            until,
        };
        self.rank
            .orders
            .extend(begun.map(|last| order(last, Until::Begun)));
        let waited = self.waited.drain(..);
        self.rank
            .orders
            .extend(waited.map(|before| order(before, Until::Over)));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_waited_for_orders_the_next_operation_alone() {
        let mut program = Program::default();
        program.exchange((1, 8), (2, 16));
        program.calc(0);
        program.calc(5);
        program.send(3, 1);
        let rank = program.finish();
        let orders: Vec<_> = (rank.orders.iter())
            .map(|order| (order.operation, order.before, order.until))
            .collect();
        let expected = [
            (1, 0, Until::Begun),
            (2, 0, Until::Over),
            (2, 1, Until::Over),
            (3, 2, Until::Over),
        ];
        assert_eq!(orders, expected);
        assert_eq!(rank.operations[2], Operation::Calc { ns: 5 });
    }
}
