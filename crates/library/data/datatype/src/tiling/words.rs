//! A tiling as words, for another process: what comes from there is checked until it is a tiling that a view may have.

use std::sync::Arc;

use super::Tiling;
use crate::copy::Copier;
use crate::shape::{Part, Run, Shape};

const RUN: i64 = 0;
const STRIDED: i64 = 1;
const BLOCKS: i64 = 2;
const RUNS: i64 = 3;
const LOOP: i64 = 4;
const SEQUENCE: i64 = 5;

/// No shape is deeper: 63 loops above lists of the depth that shapes have.
const DEEPEST: u32 = 128;

impl Tiling {
    /// Words that say all of it.
    pub fn words(&self) -> Vec<i64> {
        let copier = &self.copier;
        let mut words = vec![copier.origin() as i64, self.size as i64, self.extent as i64];
        append(copier.shape(), &mut words);
        words
    }

    /// The tiling of another process's words; none if they say none, or one whose displacements are negative or go back.
    pub fn from_words(words: &[i64]) -> Option<Tiling> {
        let mut reader = Reader { words };
        let origin = reader.next()? as isize;
        let (size, extent) = (reader.length()?, reader.next()? as isize);
        let (shape, found) = reader.shape(0)?;
        let covers = found == size && reader.words.is_empty();
        if !covers {
            return None;
        }
        let copier = Arc::new(Copier::new(origin, size, extent, shape));
        let tiling = Tiling::new(copier, size, extent);
        tiling.growth().map(|_| tiling)
    }
}

fn append(shape: &Shape, words: &mut Vec<i64>) {
    match shape {
        Shape::Run { size } => words.extend([RUN, *size as i64]),
        Shape::Strided {
            count,
            stride,
            block,
        } => words.extend([STRIDED, *count as i64, *stride as i64, *block as i64]),
        Shape::Blocks {
            block,
            displacements,
        } => {
            words.extend([BLOCKS, *block as i64, displacements.len() as i64]);
            words.extend(displacements.iter().map(|&at| at as i64));
        }
        Shape::Runs { runs } => {
            words.extend([RUNS, runs.len() as i64 - 1]);
            for pair in runs.windows(2) {
                let size = pair[1].packed - pair[0].packed;
                words.extend([pair[0].displacement as i64, size as i64]);
            }
        }
        Shape::Loop {
            count,
            stride,
            child,
            ..
        } => {
            words.extend([LOOP, *count as i64, *stride as i64]);
            append(child, words);
        }
        Shape::Sequence { parts, .. } => {
            words.extend([SEQUENCE, parts.len() as i64]);
            for part in parts.iter() {
                words.push(part.displacement as i64);
                append(&part.shape, words);
            }
        }
    }
}

struct Reader<'a> {
    words: &'a [i64],
}

impl Reader<'_> {
    fn next(&mut self) -> Option<i64> {
        let (&first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.next()?).ok()
    }

    /// A number of bytes or of copies, not 0.
    fn positive(&mut self) -> Option<usize> {
        self.length().filter(|&number| number > 0)
    }

    /// A number of things that stand here as at least one word each.
    fn listed(&mut self) -> Option<usize> {
        self.positive().filter(|&count| count <= self.words.len())
    }

    /// A shape and its packed bytes.
    fn shape(&mut self, depth: u32) -> Option<(Shape, usize)> {
        if depth > DEEPEST {
            return None;
        }
        match self.next()? {
            RUN => {
                let size = self.length()?;
                (size > 0 || depth == 0).then_some((Shape::Run { size }, size))
            }
            STRIDED => {
                let (count, stride) = (self.positive()?, self.next()? as isize);
                let block = self.positive()?;
                let shape = Shape::Strided {
                    count,
                    stride,
                    block,
                };
                Some((shape, count.checked_mul(block)?))
            }
            BLOCKS => self.blocks(),
            RUNS => self.runs(),
            LOOP => {
                let (count, stride) = (self.positive()?, self.next()? as isize);
                let (child, size) = self.shape(depth + 1)?;
                let shape = Shape::Loop {
                    count,
                    stride,
                    size,
                    child: Arc::new(child),
                };
                Some((shape, count.checked_mul(size)?))
            }
            SEQUENCE => self.sequence(depth),
            _ => None,
        }
    }

    fn blocks(&mut self) -> Option<(Shape, usize)> {
        let (block, count) = (self.positive()?, self.listed()?);
        let (list, rest) = self.words.split_at(count);
        self.words = rest;
        let shape = Shape::Blocks {
            block,
            displacements: list.iter().map(|&at| at as isize).collect(),
        };
        Some((shape, block.checked_mul(count)?))
    }

    fn runs(&mut self) -> Option<(Shape, usize)> {
        let count = self.listed()?;
        let (mut runs, mut packed) = (Vec::with_capacity(count + 1), 0usize);
        for _ in 0..count {
            let displacement = self.next()? as isize;
            runs.push(Run {
                displacement,
                packed,
            });
            packed = packed.checked_add(self.positive()?)?;
        }
        runs.push(Run {
            displacement: 0,
            packed,
        });
        Some((
            Shape::Runs {
                runs: Arc::new(runs),
            },
            packed,
        ))
    }

    fn sequence(&mut self, depth: u32) -> Option<(Shape, usize)> {
        let count = self.listed()?;
        let (mut parts, mut packed) = (Vec::with_capacity(count), 0usize);
        for _ in 0..count {
            let displacement = self.next()? as isize;
            let (shape, size) = self.shape(depth + 1)?;
            parts.push(Part {
                displacement,
                packed,
                size,
                shape,
            });
            packed = packed.checked_add(size)?;
        }
        let shape = Shape::Sequence {
            parts: parts.into(),
            depth,
        };
        Some((shape, packed))
    }
}
