use super::*;

#[repr(align(4096))]
struct Page(#[expect(dead_code, reason = "memory")] [u8; PAGE]);

fn memory(ranks: usize) -> Vec<Page> {
    let pages = bytes(ranks).div_ceil(PAGE);
    (0..pages).map(|_| Page([0; PAGE])).collect()
}

/// Ranks in threads post as they like and read all, in cells and in buffers by turns.
#[test]
fn every_rank_reads_what_every_rank_posts() {
    const RANKS: usize = 3;
    const STEPS: u64 = 5 * CELLS as u64;
    let mut memory = memory(RANKS);
    let base = memory.as_mut_ptr().cast::<u8>().expose_provenance();
    std::thread::scope(|scope| {
        for rank in 0..RANKS {
            scope.spawn(move || {
                let base = std::ptr::with_exposed_provenance_mut(base);
                // SAFETY: the memory is long enough, and outlives the threads.
                let board = unsafe { Board::new(base, rank, RANKS) };
                for number in 1..=STEPS {
                    let step = board.enter();
                    assert_eq!(step, number);
                    let in_buffer = number % 3 == 0;
                    while board.room(step, in_buffer).is_err() {
                        std::thread::yield_now();
                    }
                    let value = |rank: usize| number * 10 + rank as u64;
                    let payload = board.payload(rank, step, in_buffer).cast::<u64>();
                    // SAFETY: this rank's until it is published.
                    unsafe { payload.write(value(rank)) };
                    board.publish(step, Piece::whole(8));
                    for other in 0..RANKS {
                        let what = What::Posted;
                        while !board.is_met(Need {
                            rank: other,
                            what,
                            step,
                        }) {
                            std::thread::yield_now();
                        }
                        let payload = board.payload(other, step, in_buffer).cast::<u64>();
                        // SAFETY: published, and not written again before this rank enters the next step.
                        assert_eq!(unsafe { payload.read() }, value(other));
                    }
                }
            });
        }
    });
}

#[test]
fn nobody_gets_further_ahead_than_there_is_room() {
    let mut memory = memory(2);
    let base = memory.as_mut_ptr().cast();
    // SAFETY: the memory is long enough, and outlives the boards.
    let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
    for _ in 1..CELLS {
        let step = first.enter();
        first.room(step, false).unwrap();
        assert_eq!(first.room(step, true).is_ok(), step < BUFFERS as u64);
        first.publish(step, Piece::NOTHING);
    }
    let step = first.enter();
    let need = Need {
        rank: 1,
        what: What::Entered,
        step: 1,
    };
    assert_eq!(first.room(step, false), Err(need));
    assert!(!first.is_met(need));
    assert_eq!(second.enter_silently(), (1, false));
    assert!(first.is_met(need));
    first.room(step, false).unwrap();
}

#[test]
fn what_is_posted_says_how_long_it_is() {
    let mut memory = memory(2);
    let base = memory.as_mut_ptr().cast();
    // SAFETY: the memory is long enough, and outlives the boards.
    let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
    for (bytes, more) in [(0, false), (BUFFER_BYTES, true), (7, true), (100, false)] {
        let step = first.enter();
        first.publish(step, Piece { bytes, more });
        assert_eq!(second.piece(0, step), Piece { bytes, more });
        let what = What::Posted;
        let posted = |step| {
            let rank = 0;
            second.is_met(Need { rank, what, step })
        };
        assert!(posted(step) && !posted(step + 1) && !posted(step + CELLS as u64));
    }
    // A word that no rank writes is a mark at most.
    first.cell(0, 9).control.store(!0, Ordering::Relaxed);
    assert_eq!(second.piece(0, 9).mark(), NonZeroU8::new(u8::MAX));
}

#[test]
fn what_is_posted_says_in_which_operation() {
    let mut memory = memory(2);
    let base = memory.as_mut_ptr().cast();
    // SAFETY: the memory is long enough, and outlives the boards.
    let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
    let piece = Piece::whole(8);
    for (posted, read, alike) in [(7, 7, true), (8, 7, false), (u32::MAX, 7, true)] {
        first.begin(posted);
        second.begin(read);
        let step = first.enter();
        first.publish(step, piece);
        assert_eq!(second.is_posted(0, step, piece), alike);
        assert_eq!(second.is_of_this_operation(0, step), alike);
        assert!(!second.is_posted(0, step, Piece::whole(9)));
        let what = What::Posted;
        let rank = 0;
        assert!(second.is_met(Need { rank, what, step }));
        assert_eq!(second.piece(0, step), piece);
    }
}

#[test]
fn a_mark_is_no_length() {
    let mut memory = memory(2);
    let base = memory.as_mut_ptr().cast();
    // SAFETY: the memory is long enough, and outlives the boards.
    let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
    for (mark, more) in [(NonZeroU8::MIN, false), (NonZeroU8::MAX, true)] {
        let step = first.enter();
        first.publish(step, Piece::failed(mark, more));
        let piece = second.piece(0, step);
        assert_eq!((piece.mark(), piece.more), (Some(mark), more));
    }
    for bytes in [0, 1, BUFFER_BYTES] {
        assert_eq!(Piece::whole(bytes).mark(), None);
    }
}

#[test]
fn who_sleeps_is_told_of_and_who_is_gone_is_named_once() {
    let mut memory = memory(2);
    let base = memory.as_mut_ptr().cast();
    // SAFETY: the memory is long enough, and outlives the boards.
    let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
    let need = |what, step| Need {
        rank: 0,
        what,
        step,
    };
    for what in [What::Entered, What::Posted] {
        let step = first.step() + 1;
        second.sleeps(need(what, step));
        second.sleeps(need(what, step));
        assert!(first.sleepers_behind() && first.sleepers().next().is_none());
        assert_eq!(first.enter_silently(), (step, true));
        first.publish(step, Piece::NOTHING);
        assert!(first.sleepers().eq([1]), "what it sleeps for is there");
        assert!(!first.sleepers_behind(), "it is rung once");
        assert!(!second.wakes(), "nobody else sleeps");
    }
    first.sleeps(need(What::Posted, 9));
    second.sleeps(need(What::Posted, 9));
    assert!(
        second.wakes() && first.sleepers_behind(),
        "the other sleeps"
    );
    assert!(!first.wakes() && !first.sleepers_behind());
    second.sleeps(need(What::Posted, 9));
    assert_eq!(first.broken(), None);
    first.give_up(Broken::Gone(1));
    assert!(first.sleepers().eq([1]), "nothing comes any more");
    second.give_up(Broken::Apart);
    let gone = Some(Broken::Gone(1));
    assert_eq!((first.broken(), second.broken()), (gone, gone));
    assert!(!first.leave());
    assert!(second.leave());
}

/// Also when all have ended, at different steps.
#[test]
fn who_has_ended_has_no_room_and_is_not_waited_for() {
    let mut memory = memory(2);
    let base = memory.as_mut_ptr().cast();
    // SAFETY: the memory is long enough, and outlives the boards.
    let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
    let step = first.enter();
    first.publish(step, Piece::NOTHING);
    first.give_up(Broken::Gone(1));
    first.end();
    for _ in 0..3 * CELLS {
        let need = first.room(first.enter(), false).unwrap_err();
        assert!(!first.is_met(need) && !second.is_met(need));
    }
    for _ in 0..3 * CELLS {
        second.room(second.enter(), false).unwrap();
    }
    second.end();
    for board in [&first, &second] {
        let need = board.room(board.enter(), true).unwrap_err();
        assert!(!first.is_met(need) && !second.is_met(need));
    }
}

#[test]
fn the_first_decides_whether_the_board_is_used() {
    for wanted in [false, true] {
        let mut memory = memory(2);
        let base = memory.as_mut_ptr().cast();
        // SAFETY: the memory is long enough, and outlives the boards.
        let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
        assert_eq!(second.decide(wanted), wanted);
        assert_eq!(first.decide(!wanted), wanted);
        assert_eq!(second.decide(wanted), wanted);
    }
}
