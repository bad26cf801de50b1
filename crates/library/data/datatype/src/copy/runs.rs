//! Which runs of bytes a window of the packed bytes is.

use std::ops::Range;

use super::Copier;
use crate::shape::Shape;

impl Copier {
    /// Calls `visit` with displacement and length of each run of the packed bytes `window` of elements one after the
    /// other, in type map order. Elements that touch and are one run each come as one.
    pub fn visit_window(&self, window: Range<usize>, visit: &mut impl FnMut(isize, usize)) {
        match &self.repeated {
            Shape::Strided { stride, block, .. } if *stride == *block as isize => {
                let at = self.origin.wrapping_add(window.start as isize);
                visit(at, window.len());
            }
            repeated => visit_window(repeated, self.origin, window, visit),
        }
    }
}

fn visit_window(
    shape: &Shape,
    at: isize,
    window: Range<usize>,
    visit: &mut impl FnMut(isize, usize),
) {
    match shape {
        _ if window.is_empty() => {}
        Shape::Run { .. } => visit(at.wrapping_add(window.start as isize), window.len()),
        Shape::Strided { stride, block, .. } => each(window, *block, &mut |index, part| {
            let at = at.wrapping_add(stride.wrapping_mul(index as isize));
            visit(at.wrapping_add(part.start as isize), part.len());
        }),
        Shape::Blocks {
            block,
            displacements,
        } => each(window, *block, &mut |index, part| {
            let at = at.wrapping_add(displacements[index]);
            visit(at.wrapping_add(part.start as isize), part.len());
        }),
        Shape::Loop {
            stride,
            size,
            child,
            ..
        } => each(window, *size, &mut |index, part| {
            let at = at.wrapping_add(stride.wrapping_mul(index as isize));
            visit_window(child, at, part, visit);
        }),
        Shape::Runs { runs } => {
            let first = runs.partition_point(|run| run.packed <= window.start) - 1;
            for pair in runs[first..].windows(2) {
                let whole = pair[0].packed..pair[1].packed;
                let Some(part) = common(&whole, &window) else {
                    break;
                };
                let at = at.wrapping_add(pair[0].displacement);
                visit(at.wrapping_add(part.start as isize), part.len());
            }
        }
        Shape::Sequence { parts, .. } => {
            let first = parts.partition_point(|part| part.packed + part.size <= window.start);
            for member in &parts[first..] {
                let whole = member.packed..member.packed + member.size;
                let Some(part) = common(&whole, &window) else {
                    break;
                };
                let at = at.wrapping_add(member.displacement);
                visit_window(&member.shape, at, part, visit);
            }
        }
    }
}

/// Calls `visit` with the index of each piece of `size` packed bytes that the window touches, and which part of it.
fn each(window: Range<usize>, size: usize, visit: &mut impl FnMut(usize, Range<usize>)) {
    for index in window.start / size..window.end.div_ceil(size) {
        let start = window.start.max(index * size) - index * size;
        let end = (window.end - index * size).min(size);
        visit(index, start..end);
    }
}

/// What a piece has in common with a window that does not end before it, counted from the piece's beginning.
fn common(piece: &Range<usize>, window: &Range<usize>) -> Option<Range<usize>> {
    let part = piece.start.max(window.start)..piece.end.min(window.end);
    (!part.is_empty()).then(|| part.start - piece.start..part.end - piece.start)
}
