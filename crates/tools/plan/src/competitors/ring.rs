//! Blocks that go around a ring, and Bruck's allgather (Bruck et al. 1997).

use weft_goal::Program;

use super::competitor::Competitor;
use super::setting::Setting;

pub fn allreduces(setting: Setting) -> Vec<Competitor> {
    vec![Competitor::new("ring", setting, move |rank, program| {
        reduce_scatter(setting, rank, program);
        around(setting, rank, program, |block| {
            setting.cut(block..block + 1)
        });
    })]
}

pub fn reduce_scatters(setting: Setting) -> Vec<Competitor> {
    vec![
        Competitor::new("ring", setting, move |rank, program| {
            reduce_scatter(setting, rank, program);
        }),
        Competitor::new("pairwise", setting, move |rank, program| {
            let own = setting.cut(rank..rank + 1);
            for distance in 1..setting.ranks {
                let (to, from) = (
                    setting.after(rank, distance),
                    setting.before(rank, distance),
                );
                program.exchange((to, setting.cut(to..to + 1)), (from, own));
                program.calc(setting.combining_ns(own));
            }
        }),
    ]
}

pub fn allgathers(setting: Setting) -> Vec<Competitor> {
    vec![
        Competitor::new("ring", setting, move |rank, program| {
            around(setting, rank, program, |_| setting.bytes);
        }),
        Competitor::new("bruck", setting, move |rank, program| {
            let mut held = 1;
            while held < setting.ranks {
                let bytes = held.min(setting.ranks - held) as u64 * setting.bytes;
                let (to, from) = (setting.before(rank, held), setting.after(rank, held));
                program.exchange((to, bytes), (from, bytes));
                held *= 2;
            }
        }),
    ]
}

/// Every block comes to every rank; each begins with its own.
pub fn around(setting: Setting, rank: usize, program: &mut Program, bytes: impl Fn(usize) -> u64) {
    let (next, previous) = (setting.after(rank, 1), setting.before(rank, 1));
    for step in 0..setting.ranks - 1 {
        let (out, into) = (setting.before(rank, step), setting.before(rank, step + 1));
        program.exchange((next, bytes(out)), (previous, bytes(into)));
    }
}

fn reduce_scatter(setting: Setting, rank: usize, program: &mut Program) {
    let (next, previous) = (setting.after(rank, 1), setting.before(rank, 1));
    let bytes = |block: usize| setting.cut(block..block + 1);
    for step in 1..setting.ranks {
        let (out, into) = (setting.before(rank, step), setting.before(rank, step + 1));
        program.exchange((next, bytes(out)), (previous, bytes(into)));
        program.calc(setting.combining_ns(bytes(into)));
    }
}
