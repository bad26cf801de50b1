//! A process on its own: rank 0 of 1, and its own card.

use crate::error::{Error, Result};
use crate::hosts::Hosts;
use crate::job::{Job, Launcher};
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub struct Single {
    card: Mutex<Option<String>>,
}

impl Single {
    pub fn new() -> (Single, Job) {
        let job = Job {
            id: format!("single-{}", std::process::id()),
            rank: 0,
            size: 1,
            local_rank: 0,
            local_size: 1,
            local_ranks: vec![0],
            app_num: -1,
            universe_size: None,
            host_cores: None,
            launcher: Launcher::Single,
            hosts: Hosts::one(1),
        };
        (Single::default(), job)
    }

    pub fn publish(&self, card: &str) -> Result<()> {
        *self.card.lock().unwrap_or_else(PoisonError::into_inner) = Some(card.to_owned());
        Ok(())
    }

    pub fn card(&self) -> Result<String> {
        let card = self.card.lock().unwrap_or_else(PoisonError::into_inner);
        card.clone()
            .ok_or_else(|| Error::Card("rank 0 has not published its card".into()))
    }
}

/// Refuses to be rank 0 of 1 where a launcher has plainly started several ranks but gives no way to reach it.
pub fn refuse_unusable_launcher(variable: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    for name in ["PMI_RANK", "PMI_ID"] {
        if variable(name).is_some() {
            return Err(Error::environment(
                name,
                "neither PMI_FD nor PMI_PORT says where the launcher listens",
            ));
        }
    }
    let many = |name: &str| {
        variable(name)
            .and_then(|text| text.parse::<u32>().ok())
            .is_some_and(|size| size > 1)
    };
    if many("OMPI_COMM_WORLD_SIZE") {
        return Err(Error::environment(
            "OMPI_COMM_WORLD_SIZE",
            "PMIX_RANK is not: this launcher gives no PMIx to its processes",
        ));
    }
    // Only a job step has this variable; a batch script, in which a single process is in order, has not.
    if many("SLURM_STEP_NUM_TASKS") {
        return Err(Error::environment(
            "SLURM_STEP_NUM_TASKS",
            "srun gives these tasks no PMI: use `srun --mpi=pmix` or `srun --mpi=pmi2`",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &'static str, value: &'static str) -> Option<String> {
        let variable = move |asked: &str| (asked == name).then(|| value.to_owned());
        refuse_unusable_launcher(&variable)
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn names_the_variable_that_is_of_no_use() {
        for (name, value) in [
            ("PMI_RANK", "0"),
            ("PMI_ID", "0"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("SLURM_STEP_NUM_TASKS", "2"),
        ] {
            let text = refusal(name, value).expect(name);
            assert!(text.starts_with(name) && !text.contains('\n'), "{text}");
        }
        assert_eq!(refusal("SLURM_STEP_NUM_TASKS", "1"), None);
        assert_eq!(refusal("HOME", "/"), None);
    }
}
