//! The client: threads take tiles of C one after the other, wherever they are free.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use weft_verbs::{Operation, Remote};

use super::job::{ClientJob, ELEMENT, Phase, Product, Tally};
use crate::courier::Courier;
use crate::device::Choice;
use crate::matrix::multiply_add;
use crate::talk::Talk;
use crate::team::{self, Stop};
use weft_endpoint::{Card, Endpoint, Endpoints, Error, Slot};

/// Buffers of a thread, and matrices of the server.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

pub fn play(talk: &mut Talk, device: &Choice, job: &ClientJob) -> Result<(), String> {
    let made = Endpoints::create(&device.find()?, &job.layout);
    let mut endpoints = made.map_err(|e| e.to_string())?;
    talk.say(&endpoints.card().map_err(|e| e.to_string())?)?;
    let peer: Card = talk.hear()?;
    endpoints.connect(&peer).map_err(|e| e.to_string())?;
    let memory = peer.memory.first().ok_or("the server has no memory")?;
    let array = Array {
        product: job.product,
        remote: memory.remote(),
    };
    while let Some(phase) = talk.hear::<Option<Phase>>()? {
        talk.say(&run(endpoints.threads(), job, array, phase).map_err(|e| e.to_string())?)?;
    }
    Ok(())
}

fn run(
    endpoints: &mut [Endpoint],
    job: &ClientJob,
    array: Array,
    phase: Phase,
) -> Result<Tally, Error> {
    let duration = match phase {
        Phase::Fetch(seconds) | Phase::Store(seconds) => Some(Duration::from_secs_f64(seconds)),
        Phase::Multiply => None,
    };
    // The next tile that nobody has taken.
    let next = AtomicUsize::new(0);
    let members = endpoints.iter_mut().collect();
    let outcome = team::run(members, &job.placement, duration, |_, endpoint, stop| {
        let mut worker = Worker::new(endpoint, array);
        let done = match phase {
            Phase::Fetch(_) => worker.fetch(&next, stop),
            Phase::Store(_) => worker.store(&next, stop),
            Phase::Multiply => worker.multiply(&next),
        };
        if done.is_err() {
            stop.set();
        }
        done.map(|()| worker.courier.posted)
    });
    let posted: Result<Vec<u64>, Error> = outcome.results.into_iter().collect();
    Ok(Tally {
        messages: posted?.into_iter().sum(),
        seconds: outcome.wall.as_secs_f64(),
        processor_seconds: outcome.processor.as_secs_f64(),
    })
}

/// The server's matrices.
#[derive(Clone, Copy)]
struct Array {
    product: Product,
    remote: Remote,
}

struct Worker<'a> {
    courier: Courier<'a>,
    array: Array,
    bytes: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(endpoint: &'a mut Endpoint, array: Array) -> Worker<'a> {
        let tile = array.product.tile;
        Worker {
            courier: Courier::new(endpoint),
            array,
            bytes: vec![0; tile * tile * ELEMENT],
        }
    }

    /// Posts a message for each row of a tile.
    fn transfer(
        &mut self,
        matrix: usize,
        tile: (usize, usize),
        operation: fn(Remote) -> Operation,
    ) -> Result<(), Error> {
        let bytes = self.array.product.tile * ELEMENT;
        for row in 0..self.array.product.tile {
            let place = self.array.product.place(matrix, tile, row);
            let remote = self.array.remote.at(place as u64);
            self.courier
                .post(0, operation(remote), matrix, (row * bytes, bytes))?;
        }
        Ok(())
    }

    fn fetch_pair(&mut self, (down, right): (usize, usize), inner: usize) -> Result<(), Error> {
        self.transfer(A, (down, inner), Operation::Read)?;
        self.transfer(B, (inner, right), Operation::Read)?;
        self.courier.finish()
    }

    /// The place of the tile of that number, over and over.
    fn tile(&self, number: usize) -> (usize, usize) {
        let tiles = self.array.product.tiles();
        (number / tiles % tiles, number % tiles)
    }

    fn fetch(&mut self, next: &AtomicUsize, stop: &Stop) -> Result<(), Error> {
        while !stop.is_set() {
            let tile = self.tile(next.fetch_add(1, Ordering::Relaxed));
            for inner in 0..self.array.product.tiles() {
                if stop.is_set() {
                    break;
                }
                self.fetch_pair(tile, inner)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, next: &AtomicUsize, stop: &Stop) -> Result<(), Error> {
        while !stop.is_set() {
            let tile = self.tile(next.fetch_add(1, Ordering::Relaxed));
            self.transfer(C, tile, Operation::Write)?;
            self.courier.finish()?;
        }
        Ok(())
    }

    fn multiply(&mut self, next: &AtomicUsize) -> Result<(), Error> {
        let product = self.array.product;
        let elements = product.tile * product.tile;
        let (mut a, mut b) = (vec![0.0; elements], vec![0.0; elements]);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= product.tiles() * product.tiles() {
                return Ok(());
            }
            let tile = self.tile(number);
            let mut c = vec![0.0; elements];
            for inner in 0..product.tiles() {
                self.fetch_pair(tile, inner)?;
                read(self.courier.endpoint.slot(A), &mut self.bytes, &mut a);
                read(self.courier.endpoint.slot(B), &mut self.bytes, &mut b);
                multiply_add(&mut c, &a, &b, product.tile);
            }
            let bytes: Vec<u8> = c.iter().flat_map(|v| v.to_ne_bytes()).collect();
            self.courier.endpoint.slot(C).write(0, &bytes);
            self.transfer(C, tile, Operation::Write)?;
            self.courier.finish()?;
        }
    }
}

fn read(slot: &Slot, bytes: &mut [u8], into: &mut [f64]) {
    slot.read(0, bytes);
    let (words, _) = bytes.as_chunks();
    for (value, word) in into.iter_mut().zip(words) {
        *value = f64::from_ne_bytes(*word);
    }
}
