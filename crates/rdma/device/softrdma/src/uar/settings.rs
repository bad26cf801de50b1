//! The variables that decide how a context uses the adapter, read each time a context is opened, as mlx5 does.
//!
//! | variable | default | rule |
//! |---|---|---|
//! | `MLX5_TOTAL_UUARS` | 16 | below 1 is EINVAL; raised to an even number; above 512 is ENOMEM |
//! | `MLX5_NUM_LOW_LAT_UUARS` | 4 | below 0 is EINVAL; raised to total − 12; above total − 1 is ENOMEM |
//! | `MLX5_SHUT_UP_BF` | off | any value but `0` turns BlueFlame off |
//! | `MLX5_POST_SEND_PREFER_BF` | on | `0` keeps BlueFlame for inline work requests |
//! | `MLX5_SINGLE_THREADED` | off | exactly `1` turns every lock off |
//! | `SOFTRDMA_UAR_POLICY` | `static` | `static` (the paper's) or `dynamic` (today's) |
//! | `SOFTRDMA_TD_SHARING` | 2 | the level of thread domains that do not name one: 1 or 2 |
//! | `SOFTRDMA_UAR_RESERVE` | 29 | pages of the device that no program gets |
//!
//! An empty `SOFTRDMA_` variable is one that is not set.
//!
//! mlx5 reads a number as far as it is one, so that `16x` means 16 and `x` means 0. Here a value that is not a number is
//! an error: it was not meant.

use super::adapter;
use super::error::Error;

/// How queue pairs outside of thread domains get their uUAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// All uUARs are there when the context is opened (Zambre 2018, appendix B).
    Static,
    /// uUARs come with the queue pairs (rdma-core from version 29 on a kernel from 2020 on).
    Dynamic,
}

impl Policy {
    pub fn name(self) -> &'static str {
        match self {
            Policy::Static => "static",
            Policy::Dynamic => "dynamic",
        }
    }
}

/// What a thread domain shares with others (Zambre 2018 §V-B).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Level 1: a UAR page of its own. The page's second uUAR is wasted.
    Page,
    /// Level 2: a uUAR of its own, on a page that another thread domain may be on.
    Uuar,
}

impl Sharing {
    /// The level as the paper counts it.
    pub fn level(self) -> u32 {
        match self {
            Sharing::Page => 1,
            Sharing::Uuar => 2,
        }
    }

    pub fn from_level(level: u32) -> Option<Sharing> {
        match level {
            1 => Some(Sharing::Page),
            2 => Some(Sharing::Uuar),
            _ => None,
        }
    }
}

/// How one context uses the adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub policy: Policy,
    /// uUARs of the context that are not thread domains'. Even.
    pub total_uuars: u32,
    /// Those of them that belong to one queue pair each. Less than the total.
    pub low_latency_uuars: u32,
    pub blueflame: bool,
    /// BlueFlame also where the data are not in the work request.
    pub prefer_blueflame: bool,
    pub single_threaded: bool,
    /// The level of thread domains that do not name one.
    pub default_sharing: Sharing,
    /// Pages of the device that no program gets.
    pub reserve_pages: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            policy: Policy::Static,
            total_uuars: adapter::DEFAULT_TOTAL_UUARS,
            low_latency_uuars: adapter::DEFAULT_LOW_LATENCY_UUARS,
            blueflame: true,
            prefer_blueflame: true,
            single_threaded: false,
            default_sharing: Sharing::Uuar,
            reserve_pages: adapter::DEFAULT_RESERVE_PAGES,
        }
    }
}

impl Settings {
    /// Reads the process's environment.
    pub fn from_environment() -> Result<Settings, Error> {
        Settings::from_lookup(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// Reads the variables that `lookup` knows.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Settings, Error> {
        let defaults = Settings::default();
        let total_uuars = total_uuars(&lookup)?;
        Ok(Settings {
            policy: policy(&lookup)?,
            total_uuars,
            low_latency_uuars: low_latency_uuars(&lookup, total_uuars)?,
            blueflame: lookup("MLX5_SHUT_UP_BF").is_none_or(|value| value == "0"),
            prefer_blueflame: lookup("MLX5_POST_SEND_PREFER_BF").is_none_or(|value| value != "0"),
            single_threaded: lookup("MLX5_SINGLE_THREADED").is_some_and(|value| value == "1"),
            default_sharing: default_sharing(&lookup)?,
            reserve_pages: reserve_pages(&lookup, defaults.reserve_pages)?,
        })
    }
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

fn total_uuars(lookup: Lookup) -> Result<u32, Error> {
    const NAME: &str = "MLX5_TOTAL_UUARS";
    let total = number(lookup, NAME)?.unwrap_or(i64::from(adapter::DEFAULT_TOTAL_UUARS));
    if total < 1 {
        return Err(invalid(NAME, total, "at least 1 is needed"));
    }
    let even = total.saturating_add(total & 1);
    if even > i64::from(adapter::MAX_TOTAL_UUARS) {
        let most = adapter::MAX_TOTAL_UUARS;
        return Err(Error::Exhausted(format!(
            "{NAME}={total}: a context has at most {most} uUARs"
        )));
    }
    Ok(even as u32)
}

fn low_latency_uuars(lookup: Lookup, total: u32) -> Result<u32, Error> {
    const NAME: &str = "MLX5_NUM_LOW_LAT_UUARS";
    let given = number(lookup, NAME)?;
    let asked = given.unwrap_or(i64::from(adapter::DEFAULT_LOW_LATENCY_UUARS));
    if asked < 0 {
        return Err(invalid(NAME, asked, "it cannot be negative"));
    }
    let low = asked.max(i64::from(total) - i64::from(adapter::MAX_SHARED_UUARS));
    if low > i64::from(total) - 1 {
        let default = if given.is_none() { " (default)" } else { "" };
        return Err(Error::Exhausted(format!(
            "{NAME}={asked}{default}: of {total} uUARs (MLX5_TOTAL_UUARS) at most {} can be low-latency ones",
            total - 1
        )));
    }
    Ok(low as u32)
}

fn policy(lookup: Lookup) -> Result<Policy, Error> {
    const NAME: &str = "SOFTRDMA_UAR_POLICY";
    match set(lookup, NAME).as_deref() {
        None | Some("static") => Ok(Policy::Static),
        Some("dynamic") => Ok(Policy::Dynamic),
        Some(other) => Err(invalid(NAME, other, "it is static or dynamic")),
    }
}

fn default_sharing(lookup: Lookup) -> Result<Sharing, Error> {
    const NAME: &str = "SOFTRDMA_TD_SHARING";
    match set(lookup, NAME).as_deref() {
        None | Some("2") => Ok(Sharing::Uuar),
        Some("1") => Ok(Sharing::Page),
        Some(other) => Err(invalid(NAME, other, "it is 1 or 2")),
    }
}

fn reserve_pages(lookup: Lookup, default: u32) -> Result<u32, Error> {
    const NAME: &str = "SOFTRDMA_UAR_RESERVE";
    let pages = match set(lookup, NAME) {
        Some(_) => number(lookup, NAME)?.unwrap_or(i64::from(default)),
        None => i64::from(default),
    };
    match u32::try_from(pages) {
        Ok(pages) if pages < adapter::DEVICE_PAGES => Ok(pages),
        _ => Err(invalid(NAME, pages, "it is at least 0 and below 8192")),
    }
}

fn set(lookup: Lookup, name: &str) -> Option<String> {
    lookup(name).filter(|value| !value.is_empty())
}

fn number(lookup: Lookup, name: &str) -> Result<Option<i64>, Error> {
    match lookup(name) {
        None => Ok(None),
        Some(text) => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(invalid(name, text, "it is not a number")),
        },
    }
}

fn invalid(name: &str, value: impl std::fmt::Display, why: &str) -> Error {
    Error::Invalid(format!("{name}={value}: {why}"))
}
