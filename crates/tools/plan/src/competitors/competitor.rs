//! An algorithm of one collective: what each rank does.

use weft_goal::{Program, Rank};

use super::setting::Setting;
use crate::Plan;

/// Adds to a rank's program what it does.
type OfRank = dyn Fn(usize, &mut Program);

pub struct Competitor {
    pub name: &'static str,
    ranks: usize,
    of_rank: Box<OfRank>,
}

impl Competitor {
    pub fn new(
        name: &'static str,
        setting: Setting,
        of_rank: impl Fn(usize, &mut Program) + 'static,
    ) -> Competitor {
        Competitor {
            name,
            ranks: setting.ranks,
            of_rank: Box::new(of_rank),
        }
    }

    pub fn plan(&self) -> Plan<'_> {
        Plan {
            hosts: self.ranks,
            speakers: 1,
            of_host: Box::new(|rank| vec![self.of(rank)]),
        }
    }

    fn of(&self, rank: usize) -> Rank {
        let mut program = Program::default();
        (self.of_rank)(rank, &mut program);
        program.finish()
    }
}
