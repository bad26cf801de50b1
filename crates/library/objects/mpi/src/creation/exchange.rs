//! Numbers that the processes of a communicator tell each other.

use weft_collective::{Counts, Uniform, Varying};
use weft_datatype::Datatype;

use crate::collective::{Peers, drive};
use crate::error::Result;
use crate::objects::comm::Comm;

fn datatype() -> Datatype {
    Datatype::from(weft_datatype::Predefined::Int64)
}

/// Gives rank `r` the words `out[r]`, and returns what each rank gave this one.
pub(crate) fn words(comm: &Comm, out: &[Vec<i64>]) -> Result<Vec<Vec<i64>>> {
    let lengths: Vec<i64> = out.iter().map(|words| words.len() as i64).collect();
    let lengths_in = one_word(comm, lengths.clone())?;
    let mut sent = out.concat();
    let mut received = vec![0; lengths_in.iter().sum::<i64>() as usize];
    let (datatype, peers) = (datatype(), Peers::all(comm));
    let (places, places_in) = (places(&lengths), places(&lengths_in));
    let send = varying(&datatype, &mut sent, &lengths, &places)?;
    let receive = varying(&datatype, &mut received, &lengths_in, &places_in)?;
    drive(&peers, comm.next_operation(), async |channel| {
        weft_collective::alltoallv(channel, Some(&send), &receive).await
    })?;
    let part =
        |(&length, &place): (&i64, &i64)| received[place as usize..][..length as usize].to_vec();
    Ok(lengths_in.iter().zip(&places_in).map(part).collect())
}

/// As [`words`], of one word for each rank.
fn one_word(comm: &Comm, mut out: Vec<i64>) -> Result<Vec<i64>> {
    let ranks = out.len();
    let mut received = vec![0; ranks];
    let (datatype, peers) = (datatype(), Peers::all(comm));
    let send = Uniform::new(&datatype, out.as_mut_ptr().cast(), 1, ranks)?;
    let receive = Uniform::new(&datatype, received.as_mut_ptr().cast(), 1, ranks)?;
    drive(&peers, comm.next_operation(), async |channel| {
        weft_collective::alltoall(channel, Some(&send), &receive).await
    })?;
    Ok(received)
}

/// Where blocks of these lengths start, one after the other.
fn places(lengths: &[i64]) -> Vec<i64> {
    let next = |end: &mut i64, &length: &i64| {
        *end += length;
        Some(*end - length)
    };
    lengths.iter().scan(0, next).collect()
}

fn varying<'a>(
    datatype: &'a Datatype,
    words: &mut [i64],
    lengths: &'a [i64],
    places: &'a [i64],
) -> Result<Varying<'a>> {
    let (counts, displacements) = (Counts::from(lengths), Counts::from(places));
    let address = words.as_mut_ptr().cast();
    Ok(Varying::new(datatype, address, counts, displacements)?)
}
