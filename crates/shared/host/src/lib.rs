//! What a host charges for what its cores do to each other, measured in a second or two: lines of memory that go from
//! core to core, copies by one core and by many, copies by the kernel between processes, wakes and yields.
//!
//! Threads are pinned to the CPUs that this process may use, in their order. On CPUs that others use too the figures
//! hold those others.

mod by_cores;
mod copies;
mod kernel_copies;
mod lines;
mod median;
mod pages;
mod team;
mod waking;

pub use by_cores::ByCores;
use by_cores::by_cores;
pub use kernel_copies::KernelCopies;
pub use waking::Wake;

/// Lengths of copies, in bytes: within the first cache, the second, the last, and beyond it on most machines.
pub const COPIED: [usize; 5] = [4 << 10, 32 << 10, 256 << 10, 1 << 20, 8 << 20];
#[derive(Clone, Debug)]
pub struct Model {
    /// CPUs that this process may use.
    pub cpus: Vec<usize>,
    /// From the first CPU to each other: half a round trip of a word, in nanoseconds.
    pub word_ns: Vec<(usize, f64)>,
    /// A core writes a line, the others read it and answer in a line of their own each, in nanoseconds.
    pub answers_ns: ByCores,
    /// An addition to one counter, in nanoseconds.
    pub counter_ns: ByCores,
    /// By length: each core copies memory of its own, in bytes a nanosecond (GB/s) each.
    pub copy_rates: Vec<(usize, ByCores)>,
    /// By length: all other cores copy what the first has written, in microseconds.
    pub same_copies_us: Vec<(usize, ByCores)>,
    /// None where processes may not read each other's memory.
    pub kernel_copies: Option<Vec<(usize, KernelCopies)>>,
    pub wakes: Vec<Wake>,
    /// `sched_yield` of a thread that nobody waits behind, in nanoseconds.
    pub yield_ns: f64,
}

/// From the first CPU that this process may use to each other: half a round trip of a word, in nanoseconds.
pub fn words() -> Vec<(usize, f64)> {
    lines::words(&team::usable_cpus())
}

impl Model {
    /// Measures this host.
    pub fn measure() -> Model {
        let cpus = team::usable_cpus();
        // Its processes are made before there are threads.
        let kernel_copies = kernel_copies::measure(&cpus);
        Model {
            word_ns: lines::words(&cpus),
            answers_ns: by_cores(&cpus, 2, lines::answers),
            counter_ns: by_cores(&cpus, 1, lines::counter),
            copy_rates: COPIED
                .iter()
                .map(|&bytes| (bytes, by_cores(&cpus, 1, |team| copies::own(team, bytes))))
                .collect(),
            same_copies_us: COPIED
                .iter()
                .map(|&bytes| (bytes, by_cores(&cpus, 2, |team| copies::same(team, bytes))))
                .collect(),
            kernel_copies,
            wakes: waking::measure(&cpus),
            yield_ns: waking::yield_ns(&cpus),
            cpus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_is_of_something() {
        let model = Model::measure();
        let count = model.cpus.len();
        assert_eq!(model.word_ns.len(), count - 1);
        assert_eq!(model.counter_ns.last().unwrap().0, count);
        assert_eq!(model.copy_rates.len(), COPIED.len());
        let rates = model.copy_rates.iter().flat_map(|(_, rates)| rates);
        let all = model.word_ns.iter().chain(&model.answers_ns);
        let all = all.chain(&model.counter_ns).chain(rates);
        assert!(all.clone().all(|&(_, figure)| figure > 0.0), "{model:?}");
        if let Some(copies) = &model.kernel_copies {
            let of = |(_, copies): &(_, KernelCopies)| copies.of_one_us[0].1;
            assert!(copies.iter().all(|one| of(one) > 0.0), "{model:?}");
        }
        assert!(model.yield_ns > 0.0, "{model:?}");
    }
}
