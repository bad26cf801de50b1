//! The server: its memory is A, B and C, one behind the other, row by row.

use super::job::{Ask, ELEMENT, Product};
use crate::device::Choice;
use crate::matrix::{filled, product};
use crate::talk::Talk;
use crate::target::Exposed;
use weft_endpoint::Card;

const SEED_A: u64 = 1;
const SEED_B: u64 = 2;

pub fn play(talk: &mut Talk, device: &Choice, job: Product) -> Result<(), String> {
    let exposed = Exposed::new(device, 3 * job.matrix_bytes())?;
    let (a, b) = (filled(SEED_A, job.order), filled(SEED_B, job.order));
    let expected = product(&a, &b, job.order);
    for (matrix, values) in [&a, &b].into_iter().enumerate() {
        exposed
            .region
            .write(matrix * job.matrix_bytes(), &bytes_of(values));
    }
    let peer: Card = talk.hear()?;
    let answering = exposed.answer(&peer)?;
    talk.say(&answering.card())?;
    let place = 2 * job.matrix_bytes();
    while let Some(ask) = talk.hear::<Option<Ask>>()? {
        let wrong = match ask {
            Ask::Clear => {
                let nothing = vec![f64::NAN; expected.len()];
                exposed.region.write(place, &bytes_of(&nothing));
                0
            }
            Ask::Compare => {
                let mut found = vec![0; job.matrix_bytes()];
                exposed.region.read(place, &mut found);
                different(&found, &bytes_of(&expected))
            }
        };
        talk.say(&wrong)?;
    }
    Ok(())
}

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

/// Elements that are not the same to the last bit.
fn different(found: &[u8], expected: &[u8]) -> u64 {
    let pairs = found.chunks(ELEMENT).zip(expected.chunks(ELEMENT));
    pairs.filter(|(a, b)| a != b).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_is_a_difference_and_nothing_equals_nothing() {
        let values = [1.0, f64::NAN, 0.0];
        let mut found = bytes_of(&values);
        assert_eq!(different(&found, &bytes_of(&values)), 0);
        found[0] ^= 1;
        assert_eq!(different(&found, &bytes_of(&values)), 1);
        assert_eq!(different(&bytes_of(&[0.0]), &bytes_of(&[-0.0])), 1);
    }
}
