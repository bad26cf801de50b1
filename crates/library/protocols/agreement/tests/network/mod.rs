//! Members, and what is under way between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use weft_agreement::{Agreements, Contribution, Decision, Member, Message, Values, WORDS};

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        let mut word = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        word ^= word >> 12;
        word ^= word << 25;
        word ^= word >> 27;
        self.0 = word;
        (word.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % end
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A member's program calls.
    Enter(Member),
    /// The first message from one to another arrives.
    Arrive(Member, Member),
    Die(Member),
    /// One learns of another's death, and hears nothing more from it.
    Detect(Member, Member),
}

#[derive(Clone, Hash)]
struct Program {
    machine: Agreements,
    /// The agreement that it waits for.
    waits: Option<u64>,
    decisions: Vec<Decision>,
}

#[derive(Clone, Hash)]
pub struct Network {
    /// None: it is dead.
    programs: Vec<Option<Program>>,
    under_way: BTreeMap<(Member, Member), VecDeque<Message>>,
    undetected: BTreeSet<(Member, Member)>,
    agreements: u64,
    deaths: u32,
}

/// What a member contributes to its agreement of this number.
fn contribution(member: Member, number: u64, acknowledged: Vec<Member>) -> Contribution {
    let mut words = [i64::MIN; WORDS];
    words[0] = i64::from(member) + number as i64;
    let values = Values {
        bits: [!(1 << (member % 32)), u32::MAX],
        words,
    };
    Contribution {
        values,
        acknowledged,
    }
}

impl Network {
    pub fn new(members: u32, agreements: u64, deaths: u32) -> Network {
        let program = |member| Program {
            machine: Agreements::new(member, members),
            waits: None,
            decisions: Vec::new(),
        };
        Network {
            programs: (0..members).map(|member| Some(program(member))).collect(),
            under_way: BTreeMap::new(),
            undetected: BTreeSet::new(),
            agreements,
            deaths,
        }
    }

    fn living(&self) -> impl Iterator<Item = (Member, &Program)> {
        let programs = self.programs.iter().zip(0..);
        programs.filter_map(|(program, member)| Some((member, program.as_ref()?)))
    }

    fn others(&self) -> impl Iterator<Item = Event> + '_ {
        let may_enter = |(_, program): &(Member, &Program)| {
            program.waits.is_none() && (program.decisions.len() as u64) < self.agreements
        };
        let enter = self
            .living()
            .filter(may_enter)
            .map(|(member, _)| Event::Enter(member));
        let arrive = self
            .under_way
            .keys()
            .map(|&(from, to)| Event::Arrive(from, to));
        let detect = self
            .undetected
            .iter()
            .map(|&(who, dead)| Event::Detect(who, dead));
        enter.chain(arrive).chain(detect)
    }

    /// All that may happen next.
    pub fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.others().collect();
        if self.deaths > 0 && self.living().count() > 1 {
            events.extend(self.living().map(|(member, _)| Event::Die(member)));
        }
        events
    }

    /// One of those; a death in one of so many cases. None: nothing is left to happen.
    pub fn random_event(&self, random: &mut Random, rarity: u64) -> Option<Event> {
        let others: Vec<Event> = self.others().collect();
        if others.is_empty() {
            return None;
        }
        if self.deaths > 0 && self.living().count() > 1 && random.below(rarity) == 0 {
            let living: Vec<Member> = self.living().map(|(member, _)| member).collect();
            return Some(Event::Die(
                living[random.below(living.len() as u64) as usize],
            ));
        }
        Some(others[random.below(others.len() as u64) as usize])
    }

    pub fn happen(&mut self, event: Event) {
        match event {
            Event::Enter(member) => self.act(member, |program| {
                let number = program.decisions.len() as u64;
                let me = contribution(0, 0, Vec::new());
                // Every second agreement acknowledges what is known.
                let known = program.machine.failed().iter().copied();
                let acknowledged = if number % 2 == 1 {
                    known.collect()
                } else {
                    me.acknowledged
                };
                let own = contribution(member, number, acknowledged);
                program.waits = Some(program.machine.enter(own));
            }),
            Event::Arrive(from, to) => {
                let queue = self
                    .under_way
                    .get_mut(&(from, to))
                    .expect("it has a message");
                let message = queue.pop_front().expect("it has a message");
                if queue.is_empty() {
                    self.under_way.remove(&(from, to));
                }
                let bytes = message.to_bytes();
                let members = self.programs.len() as u32;
                let message = Message::parse(&bytes, members).expect("it was written so");
                self.act(to, |program| program.machine.heard(from, message));
            }
            Event::Die(dead) => {
                self.deaths -= 1;
                self.programs[dead as usize] = None;
                self.under_way.retain(|&(_, to), _| to != dead);
                self.undetected.retain(|&(who, _)| who != dead);
                let living: Vec<Member> = self.living().map(|(member, _)| member).collect();
                self.undetected
                    .extend(living.into_iter().map(|who| (who, dead)));
            }
            Event::Detect(who, dead) => {
                self.undetected.remove(&(who, dead));
                self.under_way.remove(&(dead, who));
                self.act(who, |program| program.machine.fail(dead));
            }
        }
    }

    fn act(&mut self, member: Member, act: impl FnOnce(&mut Program)) {
        let program = self.programs[member as usize].as_mut().expect("it lives");
        act(program);
        if let Some(decision) = program
            .waits
            .and_then(|number| program.machine.take(number))
        {
            program.decisions.push(decision);
            program.waits = None;
        }
        for (to, message) in program.machine.take_outgoing() {
            // What is sent to one that is dead is not heard; and nothing goes to one that is known to be.
            assert!(to != member, "to itself");
            if self.programs[to as usize].is_some() {
                self.under_way
                    .entry((member, to))
                    .or_default()
                    .push_back(message);
            }
        }
    }

    /// All living members have the same decisions, as far as they have any, and what was decided is right.
    pub fn check_safety(&self) {
        let (mut longest, mut all) = (Vec::new(), Vec::new());
        for (member, program) in self.living() {
            if program.decisions.len() > longest.len() {
                longest = program.decisions.clone();
            }
            all.push((member, &program.decisions));
        }
        for (member, decisions) in all {
            assert_eq!(decisions[..], longest[..decisions.len()], "of {member}");
        }
        let dead = |member: &Member| self.programs[*member as usize].is_none();
        for (number, decision) in (0..).zip(&longest) {
            assert!(decision.failed.iter().all(dead), "{decision:?}");
            // Who has failed may have contributed; all others have.
            let has = |member: Member| {
                let own = contribution(member, number, Vec::new()).values;
                let bits = decision.values.bits[0] | own.bits[0] == own.bits[0];
                bits && decision.values.words[0] >= own.words[0]
            };
            let mut others =
                (0..self.programs.len() as u32).filter(|member| !decision.failed.contains(member));
            assert!(others.all(has), "{decision:?}");
            assert!(!decision.is_acknowledged || number % 2 == 1 || decision.failed.is_empty());
        }
    }

    /// Nothing happens any more: nobody waits.
    pub fn check_end(&self) {
        for (member, program) in self.living() {
            let decided = program.decisions.len() as u64;
            assert_eq!(decided, self.agreements, "{member} waits");
            assert!(program.machine.awaited().is_empty());
        }
    }

    /// How many agreements each member keeps.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        self.living().map(|(_, program)| program.machine.kept())
    }
}
