//! The command that starts an agent on a host.

use crate::arguments::Launcher;
use crate::quote::quote;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;

/// By which internal option this program becomes an agent.
pub const AGENT_OPTION: &str = "--agent";

/// How agents are started; the same on every node of the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentCommand {
    pub launcher: Launcher,
    /// In place of ssh or srun.
    pub program: Option<OsString>,
    pub extra: Vec<OsString>,
    /// This program, at the same path on every host.
    pub mpiexec: OsString,
}

impl AgentCommand {
    /// The words of the command for a host; `is_here` for the machine that starts it.
    pub fn command(&self, host: &str, is_here: bool) -> Vec<OsString> {
        let plain = vec![self.mpiexec.clone(), AGENT_OPTION.into()];
        match self.launcher {
            _ if is_here => plain,
            Launcher::Fork => plain,
            Launcher::Ssh => {
                let mut remote = quote(&self.mpiexec);
                remote.push(" ");
                remote.push(AGENT_OPTION);
                [self.front("ssh", &SSH_OPTIONS), vec![host.into(), remote]].concat()
            }
            Launcher::Slurm => {
                let place = vec![format!("--nodelist={host}").into()];
                [self.front("srun", &SRUN_OPTIONS), place, plain].concat()
            }
        }
    }

    /// The launching program, its own options where it goes by its usual name, and what the user adds.
    fn front(&self, usual: &str, options: &[&str]) -> Vec<OsString> {
        let program = self.program.clone().unwrap_or_else(|| usual.into());
        let is_usual = Path::new(&program).file_name() == Some(usual.as_ref());
        let options = options.iter().filter(|_| is_usual).map(OsString::from);
        let extra = self.extra.iter().cloned();
        std::iter::once(program)
            .chain(options)
            .chain(extra)
            .collect()
    }

    /// For messages: what reaches hosts.
    pub fn name(&self) -> String {
        let usual = match self.launcher {
            Launcher::Ssh => "ssh",
            Launcher::Slurm => "srun",
            Launcher::Fork => "fork",
        };
        let program = self.program.as_ref().map(Path::new);
        let name = program.and_then(Path::file_name);
        name.map_or(usual.into(), |name| name.to_string_lossy().into_owned())
    }
}

/// No question can be answered; an exchange of keys that costs a fifth of some distributions' default comes first among
/// those that both sides have.
const SSH_OPTIONS: [&str; 3] = [
    "-x",
    "-oBatchMode=yes",
    "-oKexAlgorithms=^curve25519-sha256",
];

/// One task that may use the whole host, beside what else the job runs there.
const SRUN_OPTIONS: [&str; 7] = [
    "--nodes=1",
    "--ntasks=1",
    "--mpi=none",
    "--cpu-bind=none",
    "--overlap",
    "--export=ALL",
    "--quiet",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn way(launcher: Launcher, program: Option<&str>) -> AgentCommand {
        AgentCommand {
            launcher,
            program: program.map(OsString::from),
            extra: vec!["-p".into(), "2222".into()],
            mpiexec: "/opt/my mpi/bin/mpiexec".into(),
        }
    }

    fn shown(way: &AgentCommand, is_here: bool) -> String {
        let words = way.command("b", is_here);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join("|")
    }

    #[test]
    fn commands_by_launcher() {
        let plain = "/opt/my mpi/bin/mpiexec|--agent";
        let quoted = "b|'/opt/my mpi/bin/mpiexec' --agent";
        assert_eq!(shown(&way(Launcher::Ssh, None), true), plain);
        assert_eq!(shown(&way(Launcher::Fork, None), false), plain);
        assert_eq!(
            shown(&way(Launcher::Ssh, None), false),
            format!("ssh|-x|-oBatchMode=yes|-oKexAlgorithms=^curve25519-sha256|-p|2222|{quoted}")
        );
        assert_eq!(
            shown(&way(Launcher::Ssh, Some("/x/kubectl-ssh")), false),
            format!("/x/kubectl-ssh|-p|2222|{quoted}")
        );
        let mut elsewhere = way(Launcher::Ssh, None);
        elsewhere.mpiexec = OsString::from_vec(b"/opt/caf\xe9's/mpiexec".to_vec());
        let remote = elsewhere.command("b", false).pop();
        let expected = b"'/opt/caf\xe9'\\''s/mpiexec' --agent".to_vec();
        assert_eq!(remote.map(OsString::into_vec), Some(expected));
        assert!(shown(&way(Launcher::Ssh, Some("/x/ssh")), false).starts_with("/x/ssh|-x|"));
        let srun = shown(&way(Launcher::Slurm, None), false);
        assert!(
            srun.starts_with("srun|--nodes=1|")
                && srun.ends_with(&format!("|--nodelist=b|{plain}")),
            "{srun}"
        );
    }
}
