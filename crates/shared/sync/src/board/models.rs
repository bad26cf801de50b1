use super::*;
use crate::Parker;
use crate::primitive::{Plain, bounded, yield_now};
use loom::sync::Arc;
use loom::thread;

/// The memory of some ranks; payload is in words of its own, which loom watches.
struct Memory {
    head: Head,
    places: Vec<Place>,
    payload: Vec<Plain>,
    parkers: Vec<Parker>,
}

impl Memory {
    fn new() -> Arc<Memory> {
        Memory::of(2)
    }

    fn of(ranks: usize) -> Arc<Memory> {
        let cell = |_| Cell {
            control: AtomicU64::new(0),
            inline: Inline(UnsafeCell::new([0; INLINE_BYTES])),
        };
        let place = |_| Place {
            entered: AtomicU64::new(0),
            awaited: AtomicU64::new(0),
            cells: std::array::from_fn(cell),
        };
        Arc::new(Memory {
            head: Head {
                sleepers: AtomicU32::new(0),
                broken: AtomicU32::new(0),
                left: AtomicU32::new(0),
                used: AtomicU32::new(0),
            },
            places: (0..ranks).map(place).collect(),
            payload: (0..ranks * CELLS).map(|_| Plain::new(0)).collect(),
            parkers: (0..ranks).map(|_| Parker::new()).collect(),
        })
    }

    fn board(&self, rank: usize) -> Board {
        Board {
            head: &self.head,
            places: self.places.as_ptr(),
            buffers: std::ptr::null_mut(),
            ranks: self.places.len(),
            rank,
            step: AtomicU64::new(0),
            all_entered: AtomicU64::new(0),
            operation: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            begun_operation: AtomicU32::new(0),
        }
    }

    fn payload(&self, rank: usize, step: u64) -> &Plain {
        &self.payload[rank * CELLS + step as usize % CELLS]
    }

    fn wake(&self, board: &Board, any: bool) {
        if any {
            board
                .sleepers()
                .for_each(|rank| self.parkers[rank].unpark());
        }
    }
}

fn wait(memory: &Memory, board: &Board, need: Need) {
    while !board.is_met(need) {
        board.sleeps(need);
        if !board.is_met(need) {
            memory.parkers[board.rank].park(None);
        }
        if board.wakes() {
            let others = board.sleepers().rev();
            others.for_each(|rank| memory.parkers[rank].unpark());
        }
    }
}

/// Posts `steps` values, sleeping when there is no room.
fn post(memory: &Memory, board: &Board, steps: u64) {
    for _ in 0..steps {
        let step = board.enter();
        while let Err(need) = board.room(step, false) {
            wait(memory, board, need);
        }
        memory.payload(board.rank, step).write(step);
        memory.wake(board, board.publish(step, Piece::NOTHING));
    }
}

/// Reads what `from` posts, sleeping when there is none.
fn read(memory: &Memory, board: &Board, from: usize, steps: u64) {
    for _ in 0..steps {
        let (step, sleepers) = board.enter_silently();
        memory.wake(board, sleepers);
        let what = What::Posted;
        wait(
            memory,
            board,
            Need {
                rank: from,
                what,
                step,
            },
        );
        assert_eq!(memory.payload(from, step).read(), step);
    }
    let (_, sleepers) = board.enter_silently();
    memory.wake(board, sleepers);
}

/// More steps than cells: the one who posts waits for room, the other for posts; no wake-up is lost, and no cell is
/// written while it is read.
#[test]
fn posts_arrive_and_cells_are_used_again() {
    bounded(|| {
        let memory = Memory::new();
        let other = {
            let memory = memory.clone();
            thread::spawn(move || read(&memory, &memory.board(1), 0, 3))
        };
        post(&memory, &memory.board(0), 3);
        other.join().unwrap();
    });
}

/// Both post and read: the step of a barrier, or of an exchange.
#[test]
fn both_read_what_both_post() {
    fn exchange(memory: &Memory, rank: usize) {
        let board = memory.board(rank);
        let step = board.enter();
        board.room(step, false).unwrap();
        memory.payload(rank, step).write(step + 10 * rank as u64);
        memory.wake(&board, board.publish(step, Piece::NOTHING));
        let (what, other) = (What::Posted, 1 - rank);
        wait(
            memory,
            &board,
            Need {
                rank: other,
                what,
                step,
            },
        );
        assert_eq!(memory.payload(other, step).read(), step + 10 * other as u64);
    }
    bounded(|| {
        let memory = Memory::new();
        let other = {
            let memory = memory.clone();
            thread::spawn(move || exchange(&memory, 1))
        };
        exchange(&memory, 0);
        other.join().unwrap();
    });
}

/// Both post quietly and look for a moment; who does not find the other's post looks at who sleeps, and sleeps itself. The same where
/// one only enters, and the other waits for room.
#[test]
fn who_posts_quietly_wakes_sleepers() {
    fn exchange(memory: &Memory, rank: usize) {
        let board = memory.board(rank);
        let (what, other) = (What::Posted, 1 - rank);
        let step = board.enter_with_room(false).unwrap();
        memory.payload(rank, step).write(step + 10 * rank as u64);
        board.publish_quietly(step, Piece::NOTHING);
        let is_posted = board.is_posted(other, step, Piece::NOTHING);
        memory.wake(&board, board.sleepers_behind());
        let need = Need {
            rank: other,
            what,
            step,
        };
        if !is_posted {
            wait(memory, &board, need);
        }
        assert_eq!(memory.payload(other, step).read(), step + 10 * other as u64);
    }
    bounded(|| {
        let memory = Memory::new();
        let other = {
            let memory = memory.clone();
            thread::spawn(move || exchange(&memory, 1))
        };
        exchange(&memory, 0);
        other.join().unwrap();
    });
}

/// One posts more than there are cells, and sleeps until there is room; the other enters quietly and reads.
#[test]
fn who_enters_quietly_wakes_one_that_waits_for_room() {
    fn read_quietly(memory: &Memory, board: &Board) {
        for _ in 0..3 {
            let step = board.enter();
            let is_posted = board.is_posted(0, step, Piece::NOTHING);
            if is_posted {
                assert_eq!(memory.payload(0, step).read(), step);
            }
            memory.wake(board, board.sleepers_behind());
            if !is_posted {
                let what = What::Posted;
                wait(
                    memory,
                    board,
                    Need {
                        rank: 0,
                        what,
                        step,
                    },
                );
                assert_eq!(memory.payload(0, step).read(), step);
            }
        }
    }
    bounded(|| {
        let memory = Memory::new();
        let other = {
            let memory = memory.clone();
            thread::spawn(move || read_quietly(&memory, &memory.board(1)))
        };
        post(&memory, &memory.board(0), 3);
        other.join().unwrap();
    });
}

/// The last to leave is one, and it sees what the other did before.
#[test]
fn one_is_the_last_to_leave() {
    loom::model(|| {
        let memory = Memory::new();
        let leave = |memory: &Memory, rank: usize| {
            memory.payload(rank, 0).write(1);
            let last = memory.board(rank).leave();
            if last {
                assert_eq!(memory.payload(1 - rank, 0).read(), 1);
            }
            last
        };
        let other = {
            let memory = memory.clone();
            thread::spawn(move || leave(&memory, 1))
        };
        let mine = leave(&memory, 0);
        yield_now();
        assert!(mine != other.join().unwrap());
    });
}

/// One posts, the two others sleep for that: neither is forgotten though one of them rings, too, and each is rung once.
#[test]
fn who_is_rung_helps_to_ring() {
    fn read_once(memory: &Memory, rank: usize) {
        let (board, what, step) = (memory.board(rank), What::Posted, 1);
        board.enter();
        wait(
            memory,
            &board,
            Need {
                rank: 0,
                what,
                step,
            },
        );
        assert_eq!(memory.payload(0, step).read(), step);
    }
    bounded(|| {
        let memory = Memory::of(3);
        let others = [1, 2].map(|rank| {
            let memory = memory.clone();
            thread::spawn(move || read_once(&memory, rank))
        });
        post(&memory, &memory.board(0), 1);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(latest(&memory.head.sleepers), 0);
    });
}
