//! PMIx through the launcher's own library.

use crate::error::{Error, Result};
use crate::fence::TURN;
use crate::ffi::pmix::{ERROR_UNREACHABLE, Library, Status, Unusable};
use crate::job::{Job, Launcher};
use crate::{host, hosts::Hosts};
use std::ffi::{CStr, CString};

const LIBRARY: &str = "libpmix.so.2";

const HOST: &str = "host";

pub struct Client {
    library: Library,
}

impl Client {
    pub fn connect(variable: &dyn Fn(&str) -> Option<String>) -> Result<(Client, Job)> {
        let library = Library::init(&library_names(variable)).map_err(explain)?;
        let client = Client { library };
        let job = client.job()?;
        Ok((client, job))
    }

    /// Has this rank's `fact` known to all from the next fence on.
    pub fn tell(&self, fact: &str, value: &str) -> Result<()> {
        self.put(&fact_key(fact), value)
    }

    /// What `rank` told.
    pub fn told(&self, fact: &str, rank: u32) -> Result<String> {
        self.text(rank, &fact_key(fact))
    }

    fn put(&self, key: &CStr, text: &str) -> Result<()> {
        let text =
            CString::new(text).map_err(|_| Error::Card("a card holds no zero byte".into()))?;
        self.library
            .put(key, &text)
            .map_err(|status| failed("PMIx_Put", status))
    }

    /// Waits for all ranks. Whenever that takes [`TURN`] longer, `turn` is called.
    pub fn fence(&self, turn: &mut dyn FnMut()) -> Result<()> {
        self.library
            .fence(TURN, turn)
            .map_err(|status| failed("PMIx_Fence", status))
    }

    fn text(&self, rank: u32, key: &CStr) -> Result<String> {
        let missing = || Error::Card(format!("rank {rank} has published nothing"));
        match self.library.text(rank, key) {
            Ok(text) => text.ok_or_else(missing),
            Err(status) => Err(Error::Card(format!(
                "rank {rank} has no {} to be had (PMIx_Get: status {status})",
                key.to_string_lossy()
            ))),
        }
    }

    pub fn abort(&self, code: i32) {
        self.library.abort(code);
    }

    pub fn finalize(&self) -> Result<()> {
        self.library
            .finalize()
            .map_err(|status| failed("PMIx_Finalize", status))
    }
}

/// Where the library may be: the loader's own places, then beside the launcher, whose wheels and private installs are on
/// no path but name their prefix.
fn library_names(variable: &dyn Fn(&str) -> Option<String>) -> Vec<CString> {
    let prefixes = ["PMIX_PREFIX", "OPAL_PREFIX"]
        .into_iter()
        .filter_map(variable);
    let beside = prefixes.flat_map(|prefix| {
        ["lib", "lib64", "lib/openmpi"].map(|folder| format!("{prefix}/{folder}/{LIBRARY}"))
    });
    // A variable's value holds no zero byte.
    std::iter::once(LIBRARY.to_owned())
        .chain(beside)
        .filter_map(|name| CString::new(name).ok())
        .collect()
}

fn explain(unusable: Unusable) -> Error {
    Error::environment(
        "PMIX_RANK",
        match unusable {
            Unusable::NotLoaded(words) => {
                format!(
                    "the launcher's {LIBRARY} cannot be loaded: put its folder on LD_LIBRARY_PATH ({words})"
                )
            }
            Unusable::NoSymbol(name) => {
                format!("the {LIBRARY} found has no {}", name.to_string_lossy())
            }
            Unusable::InitFailed(ERROR_UNREACHABLE) => "no PMIx server answers".into(),
            Unusable::InitFailed(status) => format!("PMIx_Init fails with status {status}"),
        },
    )
}

fn failed(call: &str, status: Status) -> Error {
    Error::launcher(format!("{call} fails with status {status}"))
}

fn fact_key(fact: &str) -> CString {
    CString::new(format!("weft-{fact}")).expect("a fact's name holds no zero byte")
}

impl Client {
    fn job(&self) -> Result<Job> {
        let library = &self.library;
        let rank = library.rank();
        let unsigned = |number: i64| u32::try_from(number).ok();
        let size = library.number(None, c"pmix.job.size").and_then(unsigned);
        let size = size.filter(|&size| rank < size).ok_or_else(|| {
            Error::launcher(format!(
                "PMIx gives no size of the job, or one that rank {rank} is not within"
            ))
        })?;
        let hosts = self.hosts(rank, size)?;
        let local_ranks: Vec<u32> = hosts.ranks(hosts.of(rank)).collect();
        let local_rank = local_ranks.iter().take_while(|&&other| other < rank);
        Ok(Job {
            id: library.namespace(),
            rank,
            size,
            local_rank: local_rank.count() as u32,
            local_size: local_ranks.len() as u32,
            local_ranks,
            app_num: library
                .number(Some(rank), c"pmix.appnum")
                .and_then(|n| i32::try_from(n).ok())
                .unwrap_or(-1),
            universe_size: library.number(None, c"pmix.univ.size").and_then(unsigned),
            host_cores: None,
            launcher: Launcher::Pmix,
            hosts,
        })
    }

    /// From the list of ranks on this host, and, where these are not all, the name of each rank's host. Servers tell both of all
    /// ranks, where they tell other maps in one version and not in the next.
    fn hosts(&self, rank: u32, size: u32) -> Result<Hosts> {
        let peers = self
            .library
            .text_at_start(None, c"pmix.lpeers")
            .unwrap_or_else(|| rank.to_string());
        let local_ranks = parse_ranks(&peers, size).ok_or_else(|| {
            Error::launcher(format!(
                "PMIx's list of ranks on this host `{peers}` is malformed"
            ))
        })?;
        if local_ranks.len() == size as usize {
            return Ok(Hosts::one(size));
        }
        let name = |rank| self.library.text_at_start(Some(rank), c"pmix.hname");
        let hosts = match (0..size).map(name).collect::<Option<Vec<String>>>() {
            Some(names) => Hosts::named(names),
            None => self.exchange_identities(size)?,
        };
        if !hosts.ranks(hosts.of(rank)).eq(local_ranks.iter().copied()) {
            return Err(Error::launcher(format!(
                "PMIx's list of ranks on the host of rank {rank} `{peers}` is not that by the names of hosts"
            )));
        }
        Ok(hosts)
    }

    fn exchange_identities(&self, size: u32) -> Result<Hosts> {
        self.tell(HOST, &host::identity())?;
        self.fence(&mut || ())?;
        let names = (0..size).map(|rank| self.told(HOST, rank));
        Ok(Hosts::named(names.collect::<Result<Vec<String>>>()?))
    }
}

/// Reads `0,1,2` or, as some servers write, `0-2,5`; the ranks ascending and each once.
fn parse_ranks(text: &str, size: u32) -> Option<Vec<u32>> {
    let mut ranks = Vec::new();
    for item in text.split(',') {
        let (first, last) = item
            .trim()
            .split_once('-')
            .unwrap_or((item.trim(), item.trim()));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last >= size {
            return None;
        }
        ranks.extend(first..=last);
    }
    ranks.sort_unstable();
    ranks.dedup();
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_lists_of_ranks() {
        assert_eq!(parse_ranks("0,1,3", 4), Some(vec![0, 1, 3]));
        assert_eq!(parse_ranks("5,0-2", 6), Some(vec![0, 1, 2, 5]));
        assert_eq!(parse_ranks("0,4", 4), None);
        assert_eq!(parse_ranks("0-4294967295", 4), None);
        assert_eq!(parse_ranks("", 4), None);
    }

    proptest! {
        #[test]
        fn any_list_is_read_or_refused(text in "[0-9,-]{0,30}", size in 0u32..1000) {
            for rank in parse_ranks(&text, size).unwrap_or_default() {
                prop_assert!(rank < size);
            }
        }
    }
}
