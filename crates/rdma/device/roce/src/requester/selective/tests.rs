//! Against a model that keeps a set for each question.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::Selective;

#[derive(Default)]
struct Model {
    held: BTreeSet<u64>,
    /// Repeated, and what had been sent by then.
    repeated: BTreeMap<u64, u64>,
    due: Vec<u64>,
}

impl Model {
    fn report(&mut self, acknowledged: u64, (cursor, sent): (u64, u64), bits: &[u8]) -> bool {
        let told = |at: &u64| {
            let bit = (at - acknowledged - 1) as usize;
            bits.get(bit / 8)
                .is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
        };
        self.held.extend((acknowledged + 1..sent).filter(told));
        let Some(&highest) = self.held.last() else {
            return false;
        };
        let before = self.due.len();
        for at in acknowledged..cursor.min(highest) {
            let again = self.repeated.get(&at).is_none_or(|sent| highest >= *sent);
            if !self.held.contains(&at) && again && !at.is_multiple_of(7) {
                self.repeated.insert(at, sent);
                self.due.push(at);
            }
        }
        self.due.len() > before
    }

    fn advance(&mut self, acknowledged: u64) {
        self.held.retain(|at| *at >= acknowledged);
        self.repeated.retain(|at, _| *at >= acknowledged);
        let gone = self.due.iter().take_while(|at| **at < acknowledged).count();
        self.due.drain(..gone);
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Sends so many more.
    Send(u64),
    /// So many more are acknowledged.
    Acknowledge(u64),
    Report(Vec<u8>),
    Repeat,
    GoBack,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1u64..30).prop_map(Step::Send),
        2 => (1u64..20).prop_map(Step::Acknowledge),
        3 => proptest::collection::vec(any::<u8>(), 0..8).prop_map(Step::Report),
        3 => Just(Step::Repeat),
        1 => Just(Step::GoBack),
    ];
    proptest::collection::vec(step, 1..80)
}

proptest! {
    #[test]
    fn agrees_with_its_model(steps in steps()) {
        let (mut selective, mut model) = (Selective::default(), Model::default());
        let (mut acknowledged, mut cursor, mut sent) = (5, 5, 5);
        for step in steps {
            match step {
                Step::Send(packets) => {
                    selective.pass(cursor..cursor + packets);
                    cursor += packets;
                    sent = sent.max(cursor);
                }
                Step::Acknowledge(packets) => {
                    acknowledged = (acknowledged + packets).min(sent);
                    selective.advance(acknowledged, cursor);
                    cursor = cursor.max(acknowledged);
                    model.advance(acknowledged);
                }
                Step::Report(bits) => {
                    let lost = selective.report(acknowledged, (cursor, sent), &bits, |at| !at.is_multiple_of(7));
                    prop_assert_eq!(lost, model.report(acknowledged, (cursor, sent), &bits));
                }
                Step::Repeat => {
                    prop_assert_eq!(selective.repeat(), model.due.first().copied());
                    selective.repeated();
                    model.due.drain(..1.min(model.due.len()));
                }
                Step::GoBack => {
                    selective.go_back();
                    model.repeated.clear();
                    model.due.clear();
                    cursor = acknowledged;
                }
            }
            prop_assert_eq!(selective.repeat(), model.due.first().copied());
            prop_assert_eq!(selective.passed(), model.held.range(..cursor).count() as u64);
            for at in acknowledged..sent + 3 {
                prop_assert_eq!(selective.is_held(at), model.held.contains(&at));
            }
        }
    }
}
