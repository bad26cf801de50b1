//! Numbers that the processes of a communicator tell each other.

use weft_collective::run_blocking;
use weft_collective_calls::Peers;
use weft_collective_calls::lists::{Exchange, bytes_of, words_of};
use weft_error::Result;
use weft_error::told::Teller;
use weft_objects::comm::Comm;

/// Gives rank `r` the words `out[r]`, and returns what each rank gave this one. Whoever fails has taken part to the
/// end.
pub(crate) fn words(comm: &Comm, out: &[Vec<i64>]) -> Result<Vec<Vec<i64>>> {
    let out: Vec<Vec<u8>> = out.iter().map(|words| bytes_of(words)).collect();
    let (peers, tag) = (Peers::all(comm), comm.next_operation());
    let exchange = Exchange {
        out: out
            .iter()
            .enumerate()
            .map(|(rank, list)| (rank, &list[..]))
            .collect(),
        from: (0..out.len()).collect(),
        most: &|_| usize::MAX,
    };
    let (lists, outcome) = run_blocking(exchange.run(&peers, tag), || peers.wait());
    outcome?;
    let words = |(rank, list): (usize, &Vec<u8>)| {
        let told =
            || Teller::Rank(rank).told(format_args!("{} bytes", list.len()), "list of words");
        words_of(list).ok_or_else(told)
    };
    lists.iter().enumerate().map(words).collect()
}
