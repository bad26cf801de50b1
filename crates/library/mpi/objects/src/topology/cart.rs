//! Cartesian grids (MPI-5.0 §8.5). Ranks go through a grid in row-major order: the last coordinate fastest.

use weft_error::{Class, Error, Result, argument};

use crate::constants::{PROC_NULL, UNDEFINED};

/// A grid. One without dimensions has one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cart {
    dims: Vec<i32>,
    periods: Vec<bool>,
}

const _: () = assert!(UNDEFINED < 0 && PROC_NULL < 0, "neither is a rank");

impl Cart {
    /// A grid that a communicator of `processes` has room for; `periods` is as long as `dims`.
    pub fn new(dims: &[i32], periods: &[bool], processes: u32) -> Result<Cart> {
        let mut size = 1;
        for (index, &extent) in dims.iter().enumerate() {
            if extent < 1 {
                let what = format_args!("[{index}]: {extent} is not positive");
                return Err(argument(Class::Dims, "dims", what));
            }
            size *= i64::from(extent);
            if size > processes.into() {
                let what = format_args!("the grid has more places than {processes} processes");
                return Err(argument(Class::Dims, "dims", what));
            }
        }
        Ok(Cart {
            dims: dims.to_vec(),
            periods: periods.to_vec(),
        })
    }

    pub fn dims(&self) -> &[i32] {
        &self.dims
    }

    pub fn periods(&self) -> &[bool] {
        &self.periods
    }

    pub fn size(&self) -> u32 {
        self.dims.iter().product::<i32>() as u32
    }

    /// Where a rank stands.
    pub fn coords(&self, rank: u32) -> Vec<i32> {
        let mut coords = vec![0; self.dims.len()];
        let mut rest = rank as i32;
        for (coord, extent) in coords.iter_mut().zip(&self.dims).rev() {
            *coord = rest % extent;
            rest /= extent;
        }
        coords
    }

    /// The rank at `coords`, which are within the grid.
    fn at(&self, coords: &[i32]) -> i32 {
        let places = self.dims.iter().zip(coords);
        places.fold(0, |rank, (extent, coord)| rank * extent + coord)
    }

    /// A coordinate as one within the grid; none outside of a dimension without a period.
    fn wrapped(&self, dimension: usize, coord: i64) -> Option<i32> {
        let extent = i64::from(self.dims[dimension]);
        match self.periods[dimension] {
            true => Some(coord.rem_euclid(extent) as i32),
            false => (0..extent).contains(&coord).then_some(coord as i32),
        }
    }

    /// `MPI_Cart_rank`, of as many coordinates as there are dimensions.
    pub fn rank(&self, coords: &[i32]) -> Result<i32> {
        let within = |(dimension, &coord): (usize, &i32)| {
            self.wrapped(dimension, coord.into()).ok_or_else(|| {
                let extent = self.dims[dimension];
                let what = format_args!(
                    "[{dimension}]: {coord} is outside of 0 to {}, and there is no period",
                    extent - 1
                );
                argument(Class::Arg, "coords", what)
            })
        };
        let coords: Result<Vec<i32>> = coords.iter().enumerate().map(within).collect();
        Ok(self.at(&coords?))
    }

    /// The rank `displacement` further along a dimension, or `MPI_PROC_NULL`.
    fn moved(&self, rank: u32, dimension: usize, displacement: i64) -> i32 {
        let mut coords = self.coords(rank);
        let target = i64::from(coords[dimension]) + displacement;
        match self.wrapped(dimension, target) {
            Some(coord) => {
                coords[dimension] = coord;
                self.at(&coords)
            }
            None => PROC_NULL,
        }
    }

    /// `MPI_Cart_shift`: source and destination.
    pub fn shift(&self, rank: u32, direction: i32, displacement: i32) -> Result<[i32; 2]> {
        let dimension = usize::try_from(direction).ok();
        let dimension = dimension.filter(|&dimension| dimension < self.dims.len());
        let dimension = dimension.ok_or_else(|| self.no_direction(direction))?;
        let displacement = i64::from(displacement);
        Ok([-displacement, displacement].map(|by| self.moved(rank, dimension, by)))
    }

    #[cold]
    fn no_direction(&self, direction: i32) -> Error {
        let dimensions = self.dims.len();
        let what = format_args!("{direction} is no dimension of a grid of {dimensions}");
        argument(Class::Dims, "direction", what)
    }

    /// By dimension: the neighbour in negative direction, then the one in positive direction (MPI-5.0 §8.6).
    pub fn neighbours(&self, rank: u32) -> Vec<i32> {
        (0..self.dims.len())
            .flat_map(|dimension| [-1, 1].map(|by| self.moved(rank, dimension, by)))
            .collect()
    }

    /// `MPI_Cart_sub`: the grid of the dimensions that remain, and the ranks in it, in its order.
    pub fn part(&self, rank: u32, remain: &[bool]) -> (Cart, Vec<u32>) {
        let kept = |dimension: &usize| remain[*dimension];
        let kept: Vec<usize> = (0..self.dims.len()).filter(kept).collect();
        let part = Cart {
            dims: kept.iter().map(|&dimension| self.dims[dimension]).collect(),
            periods: kept
                .iter()
                .map(|&dimension| self.periods[dimension])
                .collect(),
        };
        let mut coords = self.coords(rank);
        let mut whole = |place: u32| {
            for (&dimension, coord) in kept.iter().zip(part.coords(place)) {
                coords[dimension] = coord;
            }
            self.at(&coords) as u32
        };
        let ranks = (0..part.size()).map(&mut whole).collect();
        (part, ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_coordinates_are_inverse() {
        let cart = Cart::new(&[2, 3, 4], &[false, true, false], 30).unwrap();
        assert_eq!(cart.size(), 24);
        let mut rank = 0;
        for i in 0..2 {
            for j in 0..3 {
                for k in 0..4 {
                    assert_eq!(cart.coords(rank), [i, j, k]);
                    assert_eq!(cart.rank(&[i, j, k]).unwrap(), rank as i32);
                    assert_eq!(cart.rank(&[i, j - 3, k]).unwrap(), rank as i32);
                    assert_eq!(cart.rank(&[i, j + 6, k]).unwrap(), rank as i32);
                    rank += 1;
                }
            }
        }
        for outside in [[-1, 0, 0], [2, 0, 0], [0, 0, 4], [0, 0, i32::MIN]] {
            assert_eq!(cart.rank(&outside).unwrap_err().class, Class::Arg);
        }
    }

    #[test]
    fn shifts_end_at_edges_and_go_around_periods() {
        let cart = Cart::new(&[2, 3], &[false, true], 6).unwrap();
        assert_eq!(cart.shift(1, 0, 1).unwrap(), [PROC_NULL, 4]);
        assert_eq!(cart.shift(4, 0, 1).unwrap(), [1, PROC_NULL]);
        assert_eq!(cart.shift(4, 0, -1).unwrap(), [PROC_NULL, 1]);
        assert_eq!(cart.shift(3, 1, 1).unwrap(), [5, 4]);
        assert_eq!(cart.shift(3, 1, -4).unwrap(), [4, 5]);
        assert_eq!(cart.shift(3, 1, 0).unwrap(), [3, 3]);
        assert_eq!(cart.shift(3, 1, i32::MIN).unwrap(), [5, 4]);
        assert_eq!(cart.neighbours(1), [PROC_NULL, 4, 0, 2]);
        for wrong in [-1, 2] {
            assert_eq!(cart.shift(0, wrong, 1).unwrap_err().class, Class::Dims);
        }
    }

    #[test]
    fn parts_keep_their_places() {
        let cart = Cart::new(&[2, 3, 2], &[false, true, false], 12).unwrap();
        let (part, ranks) = cart.part(5, &[true, false, true]);
        assert_eq!(
            (part.dims(), part.periods()),
            (&[2, 2][..], &[false, false][..])
        );
        assert_eq!(ranks, [4, 5, 10, 11]);
        let (none, ranks) = cart.part(5, &[false; 3]);
        assert_eq!((none.size(), ranks), (1, vec![5]));
    }

    #[test]
    fn grids_that_are_none() {
        for (dims, processes) in [
            (&[0][..], 4),
            (&[-2, -2], 4),
            (&[2, 3], 5),
            (&[i32::MAX; 9], 9),
        ] {
            let periods = vec![false; dims.len()];
            let error = Cart::new(dims, &periods, processes).unwrap_err();
            assert_eq!(error.class, Class::Dims);
        }
        assert_eq!(Cart::new(&[], &[], 3).unwrap().size(), 1);
    }
}
