//! Every setting, its value here and now, and where that comes from.

use std::env;

use weft_tool::control;

/// Names the interfaces for ranks on other hosts.
pub const INTERFACE: &str = "WEFT_INTERFACE";
/// By which mpiexec tells its ranks what its options have set.
const OPTIONS: &str = "WEFT_OPTIONS";
/// What a launcher tells its ranks.
const TOLD: &[&str] = &[
    "WEFT_HOST_CORES",
    "WEFT_HOST_NETWORK",
    "WEFT_JOB",
    "WEFT_PROGRAM",
];
/// What mpiexec reads, and what it does without.
const LAUNCHING: &[(&str, &str)] = &[
    ("HYDRA_HOST_FILE", "this host alone, or the batch system's"),
    ("HYDRA_LAUNCHER", "ssh, or srun within a job of Slurm's"),
    ("HYDRA_LAUNCHER_EXEC", "the launcher's own name"),
    ("HYDRA_LAUNCH_EXTRA_ARGS", "none"),
];

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Default,
    Environment(&'static str),
    Launcher(&'static str),
    Option(&'static str),
}

impl Source {
    fn text(self) -> String {
        match self {
            Source::Default => "default".to_owned(),
            Source::Environment(name) => format!("environment, {name}"),
            Source::Launcher(name) => format!("launcher, {name}"),
            Source::Option(name) => format!("option {name}"),
        }
    }
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where the value of a setting comes from that a variable of the environment may make.
fn source(variable: &'static str, variables: Variables) -> Source {
    if variables(variable).is_none() {
        return Source::Default;
    }
    let by_options = variables(OPTIONS).unwrap_or_default();
    if by_options.split(',').any(|name| name == variable) {
        Source::Launcher(variable)
    } else {
        Source::Environment(variable)
    }
}

/// A setting: its name, its value and where that comes from.
type Row = (String, String, Source);

fn of_library(interface: &[String], variables: Variables) -> Vec<Row> {
    let row = |setting: &control::Variable| {
        let name = setting.name.to_string();
        match setting.environment() {
            Some(INTERFACE) if !interface.is_empty() => {
                (name, interface.join(","), Source::Option("--interface"))
            }
            Some(variable) => (name, setting.text(), source(variable, variables)),
            None => (name, setting.text(), Source::Default),
        }
    };
    control::ALL.iter().map(row).collect()
}

fn of_launchers(variables: Variables) -> Vec<Row> {
    let told = TOLD.iter().filter_map(|&name| {
        let value = variables(name)?;
        Some((name.to_owned(), value, Source::Launcher(name)))
    });
    let read = LAUNCHING
        .iter()
        .map(|&(name, without)| match variables(name) {
            Some(value) => (name.to_owned(), value, Source::Environment(name)),
            None => (name.to_owned(), without.to_owned(), Source::Default),
        });
    told.chain(read).collect()
}

/// A line for each setting.
pub fn text(interface: &[String]) -> String {
    let variables = |name: &str| env::var(name).ok();
    let rows = of_library(interface, &variables);
    let mut text = heading("settings", "value", "from") + &lines(&rows);
    text += "\n";
    text += &heading("launching", "value", "from");
    text + &lines(&of_launchers(&variables))
}

fn heading(what: &str, value: &str, from: &str) -> String {
    format!("{what:<38} {value:<36} {from}\n")
}

fn lines(rows: &[Row]) -> String {
    let line = |(name, value, source): &Row| {
        let value = if value.is_empty() { "-" } else { value };
        format!("  {name:<36} {value:<36} {}\n", source.text())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(name: &str) -> Option<String> {
        let value = match name {
            "WEFT_INTERFACE" => "eth7",
            "WEFT_TRACE" => "-",
            "WEFT_HOST_CORES" => "12",
            "WEFT_OPTIONS" => "WEFT_NETWORK_TIMEOUT,WEFT_TRACE",
            "HYDRA_LAUNCHER" => "fork",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn source_of(rows: &[Row], name: &str) -> Source {
        let found = rows.iter().find(|row| row.0 == name);
        found.unwrap_or_else(|| panic!("no setting {name}")).2
    }

    #[test]
    fn each_setting_says_where_it_comes_from() {
        let rows = of_library(&[], &variables);
        assert_eq!(rows.len(), control::ALL.len());
        let from = |name| source_of(&rows, name);
        assert_eq!(
            from("weft_interface"),
            Source::Environment("WEFT_INTERFACE")
        );
        assert_eq!(from("weft_trace"), Source::Launcher("WEFT_TRACE"));
        assert_eq!(from("weft_network_timeout"), Source::Default);
        assert_eq!(from("weft_lanes"), Source::Default);
        let rows = of_library(&["eth1".to_owned(), "eth2".to_owned()], &variables);
        assert_eq!(
            source_of(&rows, "weft_interface"),
            Source::Option("--interface")
        );
        assert!(rows.iter().any(|row| row.1 == "eth1,eth2"));
        let rows = of_launchers(&variables);
        let from = |name| source_of(&rows, name);
        assert_eq!(from("WEFT_HOST_CORES"), Source::Launcher("WEFT_HOST_CORES"));
        assert_eq!(
            from("HYDRA_LAUNCHER"),
            Source::Environment("HYDRA_LAUNCHER")
        );
        assert_eq!(from("HYDRA_HOST_FILE"), Source::Default);
        assert!(!rows.iter().any(|row| row.0 == "WEFT_JOB"));
    }
}
