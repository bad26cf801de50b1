//! Messages from each rank to all that need something of it, in rounds or all at once.

use weft_goal::Program;

use super::competitor::Competitor;
use super::setting::Setting;
use crate::Collective;

/// Hensgen, Finkel and Manber 1988.
pub fn dissemination(setting: Setting, rank: usize, program: &mut Program) {
    let mut distance = 1;
    while distance < setting.ranks {
        let (to, from) = (
            setting.after(rank, distance),
            setting.before(rank, distance),
        );
        program.exchange((to, 0), (from, 0));
        distance *= 2;
    }
}

/// The root sends to or receives from each.
pub fn rooted(collective: Collective, setting: Setting) -> Vec<Competitor> {
    let scatters = collective == Collective::Scatter;
    vec![Competitor::new("linear", setting, move |rank, program| {
        let others = 1..setting.ranks;
        let requests: Vec<u32> = match (rank, scatters) {
            (0, true) => others.map(|to| program.send(to, setting.bytes)).collect(),
            (0, false) => (others.map(|from| program.receive(from, setting.bytes))).collect(),
            (_, true) => vec![program.receive(0, setting.bytes)],
            (_, false) => vec![program.send(0, setting.bytes)],
        };
        requests.into_iter().for_each(|one| program.wait(one));
    })]
}

pub fn alltoalls(setting: Setting) -> Vec<Competitor> {
    vec![
        Competitor::new("linear", setting, move |rank, program| {
            let distances = 1..setting.ranks;
            let received = distances
                .clone()
                .map(|distance| setting.before(rank, distance));
            let sent = distances.map(|distance| setting.after(rank, distance));
            let received: Vec<u32> =
                (received.map(|from| program.receive(from, setting.bytes))).collect();
            let sent: Vec<u32> = sent.map(|to| program.send(to, setting.bytes)).collect();
            (received.into_iter().chain(sent)).for_each(|one| program.wait(one));
        }),
        Competitor::new("pairwise", setting, move |rank, program| {
            for distance in 1..setting.ranks {
                let (to, from) = (
                    setting.after(rank, distance),
                    setting.before(rank, distance),
                );
                program.exchange((to, setting.bytes), (from, setting.bytes));
            }
        }),
        // Bruck et al. 1997.
        Competitor::new("bruck", setting, move |rank, program| {
            let mut bit = 1;
            while bit < setting.ranks {
                let moved = (1..setting.ranks).filter(|distance| distance & bit != 0);
                let bytes = moved.count() as u64 * setting.bytes;
                let (to, from) = (setting.after(rank, bit), setting.before(rank, bit));
                program.exchange((to, bytes), (from, bytes));
                bit *= 2;
            }
        }),
    ]
}

pub fn scans(setting: Setting) -> Vec<Competitor> {
    vec![
        Competitor::new("linear", setting, move |rank, program| {
            if rank > 0 {
                program.receive_and_wait(rank - 1, setting.bytes);
                program.calc(setting.combining_ns(setting.bytes));
            }
            if rank + 1 < setting.ranks {
                program.send_and_wait(rank + 1, setting.bytes);
            }
        }),
        // Hillis and Steele 1986.
        Competitor::new("one_sided_doubling", setting, move |rank, program| {
            let mut distance = 1;
            while distance < setting.ranks {
                let from = rank.checked_sub(distance);
                let incoming = from.map(|from| program.receive(from, setting.bytes));
                let to = rank + distance;
                let outgoing = (to < setting.ranks).then(|| program.send(to, setting.bytes));
                let requests = [incoming, outgoing].into_iter().flatten();
                requests.for_each(|one| program.wait(one));
                if incoming.is_some() {
                    program.calc(setting.combining_ns(setting.bytes));
                }
                distance *= 2;
            }
        }),
    ]
}
