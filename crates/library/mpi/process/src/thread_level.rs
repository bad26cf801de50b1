//! Levels of thread support (MPI-5.0 §11.6): what a program asks for, and is provided. Whatever it is, threads may call
//! as at the highest.

/// In ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    Single,
    Funneled,
    Serialized,
    Multiple,
}

const NAMES: [(&str, ThreadLevel); 4] = [
    ("MPI_THREAD_SINGLE", ThreadLevel::Single),
    ("MPI_THREAD_FUNNELED", ThreadLevel::Funneled),
    ("MPI_THREAD_SERIALIZED", ThreadLevel::Serialized),
    ("MPI_THREAD_MULTIPLE", ThreadLevel::Multiple),
];

impl ThreadLevel {
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    pub fn named(name: &str) -> Option<ThreadLevel> {
        let known = NAMES.iter().find(|(known, _)| *known == name)?;
        Some(known.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_levels() {
        for (name, level) in NAMES {
            assert_eq!(level.name(), name);
            assert_eq!(ThreadLevel::named(name), Some(level));
        }
        assert_eq!(ThreadLevel::named("MPI_THREAD_MANY"), None);
    }
}
