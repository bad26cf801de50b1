//! Views, domains, reads and writes against a model that knows nothing but single bytes.

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use weft_datatype::{Datatype, Growth, Predefined, Tiling};
use weft_file::{
    Coverage, Creation, Cursor, Descriptor, Domains, Permission, View, read, write, write_covered,
};
use weft_memory::Memory;

/// A file type, and the displacements of one tile's bytes.
#[derive(Clone, Debug)]
struct Tile {
    datatype: Datatype,
    bytes: Vec<usize>,
    extent: usize,
}

impl Tile {
    fn offset(&self, displacement: u64, position: usize) -> u64 {
        let (tile, rest) = (position / self.bytes.len(), position % self.bytes.len());
        displacement + (tile * self.extent + self.bytes[rest]) as u64
    }
}

/// Runs of these lengths, each behind a gap.
fn listed(runs: Vec<(usize, usize)>, end: usize) -> Tile {
    let (mut places, mut lengths, mut bytes, mut at) = (vec![], vec![], vec![], 0);
    for (gap, length) in runs {
        at += gap;
        places.push(at as isize);
        lengths.push(length);
        bytes.extend(at..at + length);
        at += length;
    }
    let byte = Predefined::Byte.into();
    let list = Datatype::hindexed(lengths.into(), places.into(), &byte).unwrap();
    resized(list, bytes, at + end)
}

fn resized(datatype: Datatype, bytes: Vec<usize>, extent: usize) -> Tile {
    Tile {
        datatype: Datatype::resized(&datatype, 0, extent as isize).unwrap(),
        bytes,
        extent,
    }
}

/// Copies of a tile, with as many bytes between them.
fn repeated(tile: Tile, count: usize, between: usize) -> Tile {
    let stride = tile.extent + between;
    let datatype = Datatype::hvector(count, 1, stride as isize, &tile.datatype).unwrap();
    let copies = (0..count).flat_map(|copy| {
        let bytes = tile.bytes.iter();
        bytes.map(move |byte| byte + copy * stride)
    });
    let bytes = copies.collect();
    resized(datatype, bytes, count * stride)
}

fn tile() -> impl Strategy<Value = Tile> {
    let runs = prop::collection::vec((0usize..5, 1usize..6), 1..20);
    let leaf = (runs, 0usize..5).prop_map(|(runs, end)| listed(runs, end));
    let copies = prop::collection::vec((1usize..6, 0usize..4), 0..3);
    (leaf, copies).prop_map(|(leaf, copies)| {
        let again = |tile, (count, between)| repeated(tile, count, between);
        copies.into_iter().fold(leaf, again)
    })
}

/// A file system whose files can be mapped.
const IN_MEMORY: &str = "/dev/shm";
/// Of the mapping that short runs are written through.
const WINDOW_BYTES: u64 = 2 << 20;

/// A tile whose copies may lie among each other: its extent is anything from a byte to a bit more than its span.
fn any_tile() -> impl Strategy<Value = Tile> {
    (tile(), 0usize..3, any::<prop::sample::Index>()).prop_map(|(tile, which, index)| match which {
        0 => tile,
        _ => {
            let extent = 1 + index.index(tile.extent + 2);
            resized(tile.datatype, tile.bytes, extent)
        }
    })
}

/// A file of its own, gone when this is.
struct Scratch(PathBuf, Descriptor);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("weft-file-{}-{number}", std::process::id());
        let path = Path::new(IN_MEMORY).join(name);
        let opened = Descriptor::open(&path, Permission::ReadWrite, Creation::CreateNew);
        Scratch(path, opened.unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

fn range(cuts: (usize, usize), tile: &Tile) -> Range<u64> {
    let most = tile.bytes.len() * 4;
    let (a, b) = (cuts.0 % most, cuts.1 % most);
    a.min(b) as u64..a.max(b) as u64
}

/// Every other of so many bytes of memory, and where they lie.
fn strided(count: usize, gap: usize) -> (Datatype, Vec<usize>) {
    let byte: Datatype = Predefined::Byte.into();
    let one = Datatype::resized(&byte, 0, 1 + gap as isize).unwrap();
    (one, (0..count).map(|index| index * (1 + gap)).collect())
}

fn memory(data: &mut [u8], datatype: &Datatype, count: usize) -> Memory {
    datatype.memory(data.as_mut_ptr(), count).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_view_shows_the_bytes_of_its_tiles(
        tile in tile(),
        displacement in 0u64..50,
        cuts in (0usize..10_000, 0usize..10_000),
    ) {
        let view = View::new(displacement, &tile.datatype).unwrap();
        let positions = range(cuts, &tile);
        let offset = |position: u64| tile.offset(displacement, position as usize);
        let wanted: Vec<u64> = positions.clone().map(offset).collect();
        let mut found = Vec::new();
        let mut last = None;
        view.visit(positions.clone(), |run| {
            assert_eq!(run.at, found.len());
            assert!(run.bytes > 0 && last.is_none_or(|last| last < run.offset));
            found.extend(run.offset..run.offset + run.bytes as u64);
            last = Some(run.offset + run.bytes as u64);
            ControlFlow::Continue(())
        });
        prop_assert_eq!(&found, &wanted);
        for position in positions.clone() {
            prop_assert_eq!(view.offset(position), Some(offset(position)));
            prop_assert_eq!(view.below(offset(position)), position);
            prop_assert_eq!(view.below(offset(position) + 1), position + 1);
        }
        let hull = wanted.first().map_or(0..0, |first| *first..wanted[wanted.len() - 1] + 1);
        prop_assert_eq!(view.hull(&positions), Some(hull));
        let tiles: Vec<u64> = (0..2 * tile.bytes.len() as u64).map(offset).collect();
        let gap = tiles.windows(2).map(|pair| pair[1] - pair[0] - 1).max();
        prop_assert_eq!(view.largest_gap(), gap.or(Some(0)));
        // As another process has it.
        let words = view.tiling().words();
        let other = Tiling::from_words(&words).unwrap();
        prop_assert_eq!(other.words(), words.clone());
        let other = View::of(displacement, other).unwrap();
        let mut again = Vec::new();
        other.visit(positions.clone(), |run| {
            again.extend(run.offset..run.offset + run.bytes as u64);
            ControlFlow::Continue(())
        });
        prop_assert_eq!(&again, &wanted);
        // As an aggregator has a part of it.
        if !positions.is_empty() {
            let packed = view.pack(&positions);
            prop_assert!(packed.len() as u64 <= View::most_packed_bytes(positions.end - positions.start));
            let (other, inside) = View::unpack(&packed).unwrap();
            let mut again = Vec::new();
            other.visit(inside, |run| {
                again.extend(run.offset..run.offset + run.bytes as u64);
                ControlFlow::Continue(())
            });
            prop_assert_eq!(&again, &wanted);
        }
    }

    /// Whatever another process says is a part of a view whose offsets grow, or none.
    #[test]
    fn bytes_that_say_anything_are_checked(
        tile in tile(),
        cuts in (0usize..10_000, 0usize..10_000),
        changed in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let view = View::new(0, &tile.datatype).unwrap();
        let positions = range(cuts, &tile);
        prop_assume!(!positions.is_empty());
        let mut packed = view.pack(&positions);
        for (place, byte) in changed {
            let place = place.index(packed.len());
            packed[place] = byte;
        }
        for length in [packed.len(), cut.index(packed.len())] {
            let Some((view, positions)) = View::unpack(&packed[..length]) else {
                continue;
            };
            prop_assert_eq!(view.growth(), Growth::Throughout);
            let hull = view.hull(&positions).unwrap();
            let most = positions.end.min(positions.start + 4096);
            let mut end = hull.start;
            view.visit(positions.start..most, |run| {
                assert!(run.bytes > 0 && run.offset >= end);
                end = run.offset + run.bytes as u64;
                assert!(end <= hull.end);
                ControlFlow::Continue(())
            });
        }
    }

    /// Wherever copies of a tile lie, its view says where each position is, and what stays in a tile is in order.
    #[test]
    fn tiles_may_lie_among_each_other(
        tile in any_tile(),
        displacement in 0u64..50,
        cuts in (0usize..10_000, 0usize..10_000),
        from in 0u64..2000,
    ) {
        let view = View::new(displacement, &tile.datatype).unwrap();
        let positions = range(cuts, &tile);
        let wanted: Vec<u64> =
            positions.clone().map(|position| tile.offset(displacement, position as usize)).collect();
        let runs_of = |view: &View, positions: Range<u64>| {
            let mut found = Vec::new();
            view.visit(positions, |run| {
                found.extend(run.offset..run.offset + run.bytes as u64);
                ControlFlow::Continue(())
            });
            found
        };
        prop_assert_eq!(&runs_of(&view, positions.clone()), &wanted);
        let hull = view.hull(&positions).unwrap();
        prop_assert!(wanted.iter().all(|offset| hull.contains(offset)));
        let grows = wanted.windows(2).all(|pair| pair[0] < pair[1]);
        let size = tile.bytes.len() as u64;
        let is_in_tile = positions.is_empty() || positions.start / size == (positions.end - 1) / size;
        match view.in_order(&positions) {
            Some((other, inside)) => {
                prop_assert!(grows && other.growth() == Growth::Throughout);
                prop_assert_eq!(runs_of(&other, inside), wanted);
            }
            None => prop_assert!(!is_in_tile && view.growth() == Growth::WithinTiles),
        }
        let first = (0..).find(|&position| tile.offset(displacement, position) >= from);
        prop_assert_eq!(Some(view.first_from(from)), first.map(|first| first as u64));
        let again = Tiling::from_words(&view.tiling().words()).unwrap();
        prop_assert_eq!(again.growth(), view.tiling().growth());
        prop_assert_eq!(view.largest_gap().is_some(), view.growth() == Growth::Throughout);
    }

    /// Whatever another process says is a tiling that begins at 0 or behind, or none.
    #[test]
    fn words_that_say_anything_are_checked(
        tile in tile(),
        place in any::<prop::sample::Index>(),
        word in prop_oneof![-3i64..200, any::<i64>()],
    ) {
        let mut words = tile.datatype.tiling().words();
        let place = place.index(words.len());
        words[place] = word;
        if let Some(tiling) = Tiling::from_words(&words) {
            let growth = tiling.growth().unwrap();
            let most = match growth {
                Growth::Throughout => tiling.size().saturating_mul(2),
                Growth::WithinTiles | Growth::Overlapping => tiling.size(),
            };
            let mut end = 0;
            tiling.visit(0..most.min(4096), |displacement, bytes| {
                assert!(bytes > 0 && displacement >= if growth == Growth::Overlapping { 0 } else { end });
                end = displacement + bytes as isize;
                ControlFlow::Continue(())
            });
        }
    }

    /// Each byte of an access goes to one aggregator in one window, in order, and both sides find the same.
    #[test]
    fn domains_divide_accesses(
        tiles in prop::collection::vec((tile(), 0u64..60, (0usize..10_000, 0usize..10_000)), 1..4),
        aggregators in 1usize..5,
        window in 1u64..64,
        unit in 1u64..40,
    ) {
        let views: Vec<View> = tiles
            .iter()
            .map(|(tile, displacement, _)| View::new(*displacement, &tile.datatype).unwrap())
            .collect();
        let accesses: Vec<Range<u64>> =
            tiles.iter().map(|(tile, _, cuts)| range(*cuts, tile)).collect();
        let hulls = views.iter().zip(&accesses).map(|(view, access)| view.hull(access).unwrap());
        let hulls: Vec<_> = hulls.filter(|hull| !hull.is_empty()).collect();
        prop_assume!(!hulls.is_empty());
        let hull = hulls.iter().map(|hull| hull.start).min().unwrap()
            ..hulls.iter().map(|hull| hull.end).max().unwrap();
        let domains = Domains::new(hull, aggregators, window, unit);
        let mut taken: Vec<Vec<Range<u64>>> = vec![Vec::new(); views.len()];
        for number in 0..aggregators {
            let domain = domains.domain(number);
            let cursor = |(view, access)| Cursor::new(view, access, &domain);
            let mut cursors: Vec<Cursor> = views.iter().zip(&accesses).map(cursor).collect();
            let mut alone = cursors.clone();
            while let Some(offset) = cursors.iter().filter_map(Cursor::offset).min() {
                let window = domains.window(number, offset);
                assert!(window.contains(&offset) && domain.start <= window.start);
                for (rank, cursor) in cursors.iter_mut().enumerate() {
                    let part = cursor.take(window.end);
                    if part.is_empty() {
                        continue;
                    }
                    let own = domains.window(number, alone[rank].offset().unwrap());
                    assert_eq!((own.clone(), alone[rank].take(own.end)), (window.clone(), part.clone()));
                    let hull = views[rank].hull(&part).unwrap();
                    assert!(window.start <= hull.start && hull.end <= window.end);
                    taken[rank].push(part);
                }
            }
            assert!(alone.iter().all(|cursor| cursor.offset().is_none()));
        }
        for (access, parts) in accesses.iter().zip(&taken) {
            let mut at = access.start;
            for part in parts {
                prop_assert_eq!(part.start, at);
                at = part.end;
            }
            prop_assert_eq!(at, if access.is_empty() { access.start } else { access.end });
        }
    }

    #[test]
    fn covered_bytes_come_back_as_runs(
        bytes in 1usize..400,
        sets in prop::collection::vec((tile(), 0u64..20), 0..4),
    ) {
        let (mut coverage, mut model) = (Coverage::default(), vec![false; bytes]);
        coverage.clear(bytes).unwrap();
        for (tile, displacement) in &sets {
            let view = View::new(*displacement + 1000, &tile.datatype).unwrap();
            let positions = 0..view.below(1000 + bytes as u64);
            for position in positions.clone() {
                model[(view.offset(position).unwrap() - 1000) as usize] = true;
            }
            coverage.add(&view, positions, 1000);
        }
        let mut found = vec![false; bytes];
        let mut last = None;
        for run in coverage.runs(0..bytes) {
            assert!(last.is_none_or(|last| last < run.start), "runs do not touch");
            last = Some(run.end);
            found[run].fill(true);
        }
        prop_assert_eq!(&found, &model);
        let part = bytes / 3..bytes - bytes / 4;
        let mut found = vec![false; bytes];
        coverage.runs(part.clone()).for_each(|run| found[run].fill(true));
        let within = |(place, &covered)| covered && part.contains(&place);
        let wanted: Vec<bool> = model.iter().enumerate().map(within).collect();
        prop_assert_eq!(found, wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_written_is_read_and_nothing_else_changes(
        tile in any_tile(),
        displacement in prop_oneof![0u64..50, WINDOW_BYTES - 100..WINDOW_BYTES + 1],
        writes in (0usize..10_000, 0usize..10_000),
        reads in (0usize..10_000, 0usize..10_000),
        gaps in (0usize..3, 0usize..3),
        before in 0usize..600,
        may_map in any::<bool>(),
        sieve in prop_oneof![Just(0usize), 1usize..100, Just(1 << 20)],
    ) {
        let scratch = Scratch::new();
        let view = View::new(displacement, &tile.datatype).unwrap();
        let mut model: Vec<u8> = (0..before).map(|index| (index * 7) as u8).collect();
        scratch.1.write_at(0, &model).unwrap();
        let positions = range(writes, &tile);
        let count = (positions.end - positions.start) as usize;
        let (datatype, places) = strided(count, gaps.0);
        let mut data: Vec<u8> = (0..count * 4 + 1).map(|index| (index * 31 + 5) as u8).collect();
        for (position, place) in positions.clone().zip(&places) {
            let offset = tile.offset(displacement, position as usize) as usize;
            if model.len() <= offset {
                model.resize(offset + 1, 0);
            }
            model[offset] = data[*place];
        }
        let from = memory(&mut data, &datatype, count);
        // SAFETY: the memory is `data`, which is longer than what the datatype covers.
        unsafe { write(&scratch.1, &view, positions, &from, may_map) }.unwrap();
        prop_assert!(std::fs::read(&scratch.0).unwrap() == model, "the file differs");

        let positions = range(reads, &tile);
        let count = (positions.end - positions.start) as usize;
        let offsets = positions.clone().map(|position| tile.offset(displacement, position as usize) as usize);
        let wanted: Vec<u8> = offsets.map_while(|offset| model.get(offset).copied()).collect();
        let (datatype, places) = strided(count, gaps.1);
        let mut into = vec![0xa5; count * 4 + 1];
        let to = memory(&mut into, &datatype, count);
        // SAFETY: as above.
        let there = unsafe { read(&scratch.1, &view, positions, &to, sieve) }.unwrap();
        prop_assert_eq!(there, wanted.len());
        let found: Vec<u8> = places[..there].iter().map(|&place| into[place]).collect();
        prop_assert_eq!(found, wanted);
        for (place, &byte) in into.iter().enumerate() {
            prop_assert!(byte == 0xa5 || places[..there].contains(&place));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_covered_is_written_and_nothing_else_changes(
        sets in prop::collection::vec((tile(), 0u64..20), 0..4),
        start in WINDOW_BYTES - 3000..WINDOW_BYTES + 1,
        bytes in 1usize..6000,
        may_map in any::<bool>(),
    ) {
        let scratch = Scratch::new();
        let mut coverage = Coverage::default();
        coverage.clear(bytes).unwrap();
        for (tile, displacement) in &sets {
            let view = View::new(start + displacement, &tile.datatype).unwrap();
            coverage.add(&view, 0..view.below(start + bytes as u64), start);
        }
        let buffer: Vec<u8> = (0..bytes).map(|index| (index * 31 + 5) as u8 | 1).collect();
        let mut model = vec![0; start as usize];
        for run in coverage.runs(0..bytes) {
            model.resize(start as usize + run.start, 0);
            model.extend(&buffer[run]);
        }
        if model.len() == start as usize {
            model.clear();
        }
        write_covered(&scratch.1, start, &buffer, &coverage, may_map).unwrap();
        prop_assert!(std::fs::read(&scratch.0).unwrap() == model, "the file differs");
    }
}

#[test]
fn types_that_go_back_are_known() {
    let byte = Predefined::Byte.into();
    let growth = |datatype: &Datatype| View::new(0, datatype).map(|view| view.growth());
    let lists: [(&[isize], Option<Growth>); 4] = [
        (&[4, 0], None),
        (&[-1, 3], None),
        (&[0, 1], Some(Growth::Overlapping)),
        (&[0, 2], Some(Growth::Throughout)),
    ];
    for (places, wanted) in lists {
        let lengths = vec![2; places.len()].into();
        let list = Datatype::hindexed(lengths, places.into(), &byte).unwrap();
        assert_eq!(growth(&list), wanted, "{places:?}");
    }
    let wide = Datatype::vector(2, 1, 8, &byte).unwrap();
    let narrow = Datatype::resized(&wide, 0, 4).unwrap();
    assert_eq!(growth(&wide), Some(Growth::Throughout));
    assert_eq!(growth(&narrow), Some(Growth::WithinTiles));
    let back = Datatype::hvector(3, 1, -8, &byte).unwrap();
    assert_eq!(growth(&back), None);
    // Runs that overlap: the end of the file is where the first position lies behind it.
    let list = Datatype::hindexed(vec![3, 3].into(), vec![4, 5].into(), &byte).unwrap();
    let view = View::new(10, &list).unwrap();
    assert_eq!(
        (view.offset(3), view.hull(&(1..4))),
        (Some(15), Some(14..18))
    );
    assert_eq!(
        [0, 15, 17, 18].map(|end| view.first_from(end)),
        [0, 1, 5, 6]
    );
    let nothing = Datatype::contiguous(0, &byte).unwrap();
    let view = View::new(7, &nothing).unwrap();
    assert_eq!(
        (view.offset(0), view.below(100), view.hull(&(0..0))),
        (None, 0, Some(0..0))
    );
    let far = View::new(i64::MAX as u64 - 1, &byte).unwrap();
    assert_eq!(
        far.hull(&(0..1)),
        Some(i64::MAX as u64 - 1..i64::MAX as u64)
    );
    assert_eq!(far.hull(&(0..2)), None);
}
