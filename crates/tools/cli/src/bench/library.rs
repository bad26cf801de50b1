//! The MPI libraries that are compared, and the command line that starts each at its best on one node.
//!
//! | library | started as | pinned / not | environment |
//! |---|---|---|---|
//! | weft | `mpiexec -n N` | `--bind-to core` / `none` | |
//! | a category | `mpiexec -n N --transport rdma --endpoints CATEGORY`, ours | as weft | |
//! | mpich | `mpiexec -n N` | `-bind-to core` / `none` | |
//! | openmpi | `mpiexec -n N`, more ranks than cores: `--map-by :OVERSUBSCRIBE` | `--bind-to core` / `none` | leave to run as root |
//! | intel | `mpiexec -n N -genv I_MPI_FABRICS shm` | `-genv I_MPI_PIN 1` and one core each / `0` | `I_MPI_ROOT`, `FI_PROVIDER_PATH` |
//!
//! With more ranks than cores nothing is said about pinning: every library then does what it does by default.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use weft_endpoint::Category;

use crate::installation::Installation;

/// An MPI library other than ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    Mpich,
    Openmpi,
    Intel,
}

/// Who may run where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pin {
    /// Every rank on a core of its own while there are enough, else as each library does by default.
    Auto,
    /// Every rank on a core of its own.
    Core,
    /// Every rank on every core.
    None,
    /// As each library does by default.
    Default,
}

impl Pin {
    /// Never [`Pin::Auto`]. Ranks of several threads want more than a core each where there are more.
    pub fn resolve(self, ranks: u64, cores: usize, threads: bool) -> Pin {
        match self {
            Pin::Auto if ranks > cores as u64 => Pin::Default,
            Pin::Auto if threads && cores as u64 > ranks => Pin::None,
            Pin::Auto => Pin::Core,
            asked => asked,
        }
    }
}

/// On which hosts ranks run.
#[derive(Clone, Copy, Debug)]
pub enum Hosts<'a> {
    /// On this one.
    Here,
    /// On this one, as if each rank had a host of its own: they talk over TCP, by the loopback interface.
    Loopback,
    /// One rank on each.
    Named(&'a [String]),
}

/// How many ranks run, and where.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub ranks: u64,
    pub pin: Pin,
    pub cores: usize,
    pub hosts: Hosts<'a>,
}

/// A library that can be run.
#[derive(Clone, Debug)]
pub struct Library {
    pub name: String,
    /// `None` for our own.
    pub peer: Option<Peer>,
    /// Our own over RDMA, with endpoints of this category.
    category: Option<Category>,
    prefix: PathBuf,
}

impl Library {
    /// Our own library; the error says how to get it.
    pub fn weft(installation: &Installation) -> Result<Library, String> {
        let library = Library {
            name: "weft".into(),
            peer: None,
            category: None,
            prefix: installation.prefix.clone(),
        };
        library.complete("make install")
    }

    /// Our library over RDMA, with endpoints of this category, by whose name it goes.
    pub fn of_category(category: Category, installation: &Installation) -> Result<Library, String> {
        Ok(Library {
            name: category.name().into(),
            category: Some(category),
            ..Library::weft(installation)?
        })
    }

    /// A peer below `peers`; the error says how to get it.
    pub fn peer(peer: Peer, peers: &Path) -> Result<Library, String> {
        let name = match peer {
            Peer::Mpich => "mpich",
            Peer::Openmpi => "openmpi",
            Peer::Intel => "intel",
        };
        let library = Library {
            name: name.into(),
            peer: Some(peer),
            category: None,
            prefix: peers.join(name),
        };
        library.complete(&format!("scripts/peers.sh {}", peers.display()))
    }

    fn complete(self, remedy: &str) -> Result<Library, String> {
        match ["mpicc", "mpiexec"]
            .iter()
            .find(|tool| !self.tool(tool).is_file())
        {
            Some(missing) => Err(format!(
                "{} is left out: there is no {}; to set it up: {remedy}",
                self.name,
                self.tool(missing).display()
            )),
            None => Ok(self),
        }
    }

    fn tool(&self, name: &str) -> PathBuf {
        self.prefix.join("bin").join(name)
    }

    /// The command that compiles `source` into `program`.
    pub fn compiler(&self, source: &Path, program: &Path) -> Command {
        let mut command = Command::new(self.tool("mpicc"));
        command
            .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-pthread", "-o"])
            .arg(program)
            .arg(source);
        command
    }

    /// Programs that were compiled elsewhere find the library here.
    fn mpiexec(&self) -> Command {
        let mut folders = self.prefix.join("lib").into_os_string();
        if let Some(others) = env::var_os("LD_LIBRARY_PATH") {
            folders.push(":");
            folders.push(others);
        }
        let mut command = Command::new(self.tool("mpiexec"));
        command.env("LD_LIBRARY_PATH", folders);
        command
    }

    /// The command that runs `program` in `layout`; the caller adds the program's arguments.
    pub fn launcher(&self, layout: Layout, program: &Path) -> Command {
        let mut command = self.mpiexec();
        command.arg("-n").arg(layout.ranks.to_string());
        match self.peer {
            None => {
                command.args(bind_option("--bind-to", layout.pin));
                command.args(host_options(layout.hosts));
                if let Some(category) = self.category {
                    command.args(["--transport", "rdma", "--endpoints", category.name()]);
                }
            }
            Some(Peer::Mpich) => {
                command.args(bind_option("-bind-to", layout.pin));
            }
            Some(Peer::Openmpi) => openmpi_options(&mut command, layout),
            Some(Peer::Intel) => self.intel_options(&mut command, layout),
        }
        command.arg(program);
        command
    }

    /// The command that runs `program` on hosts, with as many ranks on each; of our own library.
    pub fn launcher_on(&self, hosts: &[String], ranks_a_host: usize, program: &Path) -> Command {
        let named: Vec<String> = hosts
            .iter()
            .map(|host| format!("{host}:{ranks_a_host}"))
            .collect();
        let mut command = self.mpiexec();
        command.arg("-hosts").arg(named.join(","));
        command
            .arg("-n")
            .arg((hosts.len() * ranks_a_host).to_string());
        command.arg(program);
        command
    }

    fn intel_options(&self, command: &mut Command, layout: Layout) {
        command.args(["-genv", "I_MPI_FABRICS", "shm"]);
        match layout.pin {
            Pin::Core => {
                command.args([
                    "-genv",
                    "I_MPI_PIN",
                    "1",
                    "-genv",
                    "I_MPI_PIN_DOMAIN",
                    "core",
                ]);
            }
            Pin::None => {
                command.args(["-genv", "I_MPI_PIN", "0"]);
            }
            Pin::Auto | Pin::Default => {}
        }
        command
            .env("I_MPI_ROOT", &self.prefix)
            .env("FI_PROVIDER_PATH", self.prefix.join("lib"));
    }
}

fn bind_option(option: &str, pin: Pin) -> Vec<OsString> {
    match pin {
        Pin::Core => vec![option.into(), "core".into()],
        Pin::None => vec![option.into(), "none".into()],
        Pin::Auto | Pin::Default => vec![],
    }
}

/// Of our mpiexec.
fn host_options(hosts: Hosts) -> Vec<String> {
    match hosts {
        Hosts::Here => vec![],
        // A launcher that reaches no other host takes every name for this one.
        Hosts::Loopback => [
            "-launcher",
            "fork",
            "-hosts",
            "one,other",
            "--interface",
            "lo",
        ]
        .map(str::to_owned)
        .to_vec(),
        Hosts::Named(names) => vec!["-hosts".to_owned(), names.join(",")],
    }
}

fn openmpi_options(command: &mut Command, layout: Layout) {
    command.args(bind_option("--bind-to", layout.pin));
    if layout.ranks > layout.cores as u64 {
        command.args(["--map-by", ":OVERSUBSCRIBE"]);
    }
    for owner in ["OMPI", "PRTE"] {
        command.env(format!("{owner}_ALLOW_RUN_AS_ROOT"), "1");
        command.env(format!("{owner}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(peer: Option<Peer>, ranks: u64, pin: Pin) -> String {
        let library = Library {
            name: "x".into(),
            peer,
            category: None,
            prefix: "/p".into(),
        };
        let command = library.launcher(
            Layout {
                ranks,
                pin,
                cores: 2,
                hosts: Hosts::Here,
            },
            Path::new("prog"),
        );
        let words: Vec<_> = command
            .get_args()
            .map(|a| a.to_string_lossy().into_owned())
            .collect();
        words.join(" ")
    }

    #[test]
    fn each_library_is_pinned_in_its_own_words() {
        assert_eq!(words(None, 2, Pin::Core), "-n 2 --bind-to core prog");
        assert_eq!(
            words(Some(Peer::Mpich), 2, Pin::Core),
            "-n 2 -bind-to core prog"
        );
        assert_eq!(
            words(Some(Peer::Openmpi), 2, Pin::None),
            "-n 2 --bind-to none prog"
        );
        assert!(words(Some(Peer::Intel), 2, Pin::Core).contains("-genv I_MPI_PIN 1"));
    }

    #[test]
    fn hosts_are_named_to_our_mpiexec() {
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(host_options(Hosts::Named(&names)), ["-hosts", "a,b"]);
        let loopback = host_options(Hosts::Loopback).join(" ");
        assert!(loopback.ends_with("--interface lo"), "{loopback}");
        assert!(host_options(Hosts::Here).is_empty());
    }

    #[test]
    fn ranks_are_given_to_hosts() {
        let library = Library {
            name: "weft".into(),
            peer: None,
            category: None,
            prefix: "/p".into(),
        };
        let hosts = ["a".to_string(), "b".to_string()];
        let command = library.launcher_on(&hosts, 3, Path::new("prog"));
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["-hosts", "a:3,b:3", "-n", "6", "prog"]);
    }

    #[test]
    fn more_ranks_than_cores_are_left_to_the_library() {
        assert_eq!(Pin::Auto.resolve(16, 2, false), Pin::Default);
        assert_eq!(Pin::Auto.resolve(2, 2, true), Pin::Core);
        assert_eq!(Pin::Auto.resolve(2, 8, true), Pin::None);
        assert_eq!(Pin::Core.resolve(16, 2, false), Pin::Core);
        assert_eq!(words(None, 16, Pin::Default), "-n 16 prog");
        assert_eq!(
            words(Some(Peer::Openmpi), 16, Pin::Default),
            "-n 16 --map-by :OVERSUBSCRIBE prog"
        );
    }

    #[test]
    fn a_missing_peer_names_itself_and_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let error = Library::peer(Peer::Mpich, dir.path()).unwrap_err();
        assert!(
            error.contains("mpich") && error.contains("scripts/peers.sh"),
            "{error}"
        );
    }
}
