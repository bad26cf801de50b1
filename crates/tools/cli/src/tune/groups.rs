//! What was measured, by the kinds of groups whose ranks pay alike.

use weft_prices::Group;
use weft_tune::Point;

/// The points of each kind that there are any of.
#[derive(Default)]
pub struct Groups(pub Vec<(Group, Vec<Point>)>);

impl Groups {
    pub fn add(&mut self, group: Group, point: Point) {
        match self.0.iter_mut().find(|(other, _)| *other == group) {
            Some((_, points)) => points.push(point),
            None => self.0.push((group, vec![point])),
        }
    }
}
