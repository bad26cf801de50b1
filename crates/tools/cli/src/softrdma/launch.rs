//! `weft softrdma run`: the environment in which a program finds the device, and then the program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use clap::Args;
use weft_softrdma::config::Config;
use weft_softrdma::uar::Settings;

use super::failure::Failure;
use crate::installation::Installation;

#[derive(Args, Debug, Default)]
pub struct Options {
    /// Devices that the program sees, named softrdma0 and on [SOFTRDMA_DEVICES]
    #[arg(long, value_name = "N")]
    devices: Option<String>,
    /// Programs of the same fabric can reach each other [SOFTRDMA_FABRIC]
    #[arg(long, value_name = "NAME")]
    fabric: Option<String>,
    /// infiniband or ethernet [SOFTRDMA_LINK_LAYER]
    #[arg(long, value_name = "LAYER")]
    link_layer: Option<String>,
    /// This host's number, the LID of its first device [SOFTRDMA_HOST]
    #[arg(long, value_name = "LID")]
    host: Option<String>,
    /// The address for RoCEv2 between hosts [SOFTRDMA_IP]
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<String>,
    /// The UDP port of the fabric on all its hosts [SOFTRDMA_UDP_PORT]
    #[arg(long, value_name = "PORT")]
    udp_port: Option<String>,
    /// Faults to inject, such as loss=0.05,seed=7 or fail=reg_mr:3 [SOFTRDMA_FAULTS]
    #[arg(long, value_name = "LIST")]
    faults: Option<String>,
    /// How queue pairs get their uUAR: static or dynamic [SOFTRDMA_UAR_POLICY]
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Level of sharing of thread domains that name none: 1 or 2 [SOFTRDMA_TD_SHARING]
    #[arg(long, value_name = "LEVEL")]
    td_sharing: Option<String>,
    /// UAR pages of a device that no program gets [SOFTRDMA_UAR_RESERVE]
    #[arg(long, value_name = "PAGES")]
    uar_reserve: Option<String>,
    /// Preload what answers for /dev/infiniband/uverbsN, without which UCX lists no device
    #[arg(long)]
    device_files: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// The folder of the device's `libibverbs.so.1` in an installation. It holds nothing else of ours, so that no program
/// loads the device by accident.
pub const FOLDER: &str = "lib/softrdma";
const LIBRARY: &str = "libibverbs.so.1";
const PRELOADED: &str = "libsoftrdma_preload.so";

/// Becomes the program; comes back only if that cannot be.
pub fn run(options: &Options) -> Result<(), Failure> {
    let installation = Installation::find().map_err(Failure::other)?;
    let folder = installation.prefix.join(FOLDER);
    require(&folder, LIBRARY)?;
    let variables = options.variables();
    check(&variables)?;
    let (program, arguments) = options
        .program
        .split_first()
        .ok_or_else(|| Failure::usage("no program is named"))?;
    let mut command = Command::new(program);
    command.args(arguments).envs(variables);
    put_first(&mut command, "LD_LIBRARY_PATH", &folder);
    if options.device_files {
        require(&folder, PRELOADED)?;
        put_first(&mut command, "LD_PRELOAD", &folder.join(PRELOADED));
    }
    let error = command.exec();
    Err(Failure {
        // As shells answer.
        code: if error.kind() == ErrorKind::NotFound {
            127
        } else {
            126
        },
        text: format!("cannot run {}: {error}", program.display()),
    })
}

impl Options {
    /// The variables that the options stand for.
    fn variables(&self) -> Vec<(&'static str, &str)> {
        [
            ("SOFTRDMA_DEVICES", &self.devices),
            ("SOFTRDMA_FABRIC", &self.fabric),
            ("SOFTRDMA_LINK_LAYER", &self.link_layer),
            ("SOFTRDMA_HOST", &self.host),
            ("SOFTRDMA_IP", &self.ip),
            ("SOFTRDMA_UDP_PORT", &self.udp_port),
            ("SOFTRDMA_FAULTS", &self.faults),
            ("SOFTRDMA_UAR_POLICY", &self.policy),
            ("SOFTRDMA_TD_SHARING", &self.td_sharing),
            ("SOFTRDMA_UAR_RESERVE", &self.uar_reserve),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
        .collect()
    }
}

/// Refuses here what the device would refuse in the program, where the message might be lost.
fn check(variables: &[(&str, &str)]) -> Result<(), Failure> {
    let lookup = |name: &str| {
        let given = variables.iter().find(|(key, _)| *key == name);
        given
            .map(|(_, value)| (*value).to_owned())
            .or_else(|| env::var(name).ok())
    };
    Config::from_variables(lookup, || None).map_err(Failure::usage)?;
    Settings::from_lookup(lookup).map_err(Failure::usage)?;
    Ok(())
}

fn require(folder: &Path, library: &str) -> Result<(), Failure> {
    let library = folder.join(library);
    if library.is_file() {
        return Ok(());
    }
    let text = format!("{} is not there (make install)", library.display());
    Err(Failure::other(text))
}

/// Puts `path` before what the variable lists already.
fn put_first(command: &mut Command, variable: &str, path: &Path) {
    command.env(variable, list(path, env::var_os(variable)));
}

fn list(first: &Path, rest: Option<OsString>) -> OsString {
    let mut list = first.as_os_str().to_owned();
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        list.push(OsStr::new(":"));
        list.push(rest);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_comes_first_in_the_search_path() {
        let path = |rest: Option<&str>| list(Path::new("/w/lib"), rest.map(Into::into));
        assert_eq!(path(None), "/w/lib");
        assert_eq!(path(Some("")), "/w/lib");
        assert_eq!(path(Some("/a:/b")), "/w/lib:/a:/b");
    }

    #[test]
    fn options_become_variables() {
        let options = Options {
            devices: Some("2".into()),
            faults: Some("seed=1".into()),
            ..Options::default()
        };
        let expected = [("SOFTRDMA_DEVICES", "2"), ("SOFTRDMA_FAULTS", "seed=1")];
        assert_eq!(options.variables(), expected);
    }

    #[test]
    fn unusable_values_are_refused_and_named() {
        for (name, value) in [
            ("SOFTRDMA_DEVICES", "0"),
            ("SOFTRDMA_FAULTS", "hail=1"),
            ("SOFTRDMA_UAR_POLICY", "none"),
            ("SOFTRDMA_TD_SHARING", "4"),
        ] {
            let failure = check(&[(name, value)]).unwrap_err();
            assert_eq!(failure.code, 2);
            assert!(
                failure.text.starts_with(&format!("{name}={value}: ")),
                "{}",
                failure.text
            );
        }
        assert!(check(&[("SOFTRDMA_DEVICES", "2")]).is_ok());
    }
}
