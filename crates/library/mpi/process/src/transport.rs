//! Which ways the user lets messages take.

use std::fs;

use weft_bootstrap::{Hosts, Job};
use weft_endpoint::Category;
use weft_error::{Class, Result, argument};
use weft_pools::Pools;
use weft_rdma::Selection;

/// Names a transport for all messages between processes: `auto`, `shm`, `tcp` or `rdma`.
pub const TRANSPORT: &str = "WEFT_TRANSPORT";
/// Names the endpoint category by which lanes share an RDMA adapter.
pub const ENDPOINTS: &str = "WEFT_ENDPOINTS";

/// Names the RDMA adapters, or ports of them, that are to be used, with commas between them.
pub const ADAPTERS: &str = "WEFT_ADAPTERS";

/// Specifies the pools of buffers into which lanes receive from an RDMA adapter.
pub const RECEIVE_POOLS: &str = "WEFT_RECEIVE_POOLS";

/// Where the kernel lists RDMA adapters.
const LISTED: &str = "/sys/class/infiniband";

/// The ways that messages may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory within a host; between hosts RDMA where two have a network for it in common, else TCP.
    Auto,
    /// Shared memory alone.
    Shm,
    /// TCP, also between processes of one host.
    Tcp,
    /// RDMA, also between processes of one host.
    Rdma,
}

impl Transport {
    const ALL: [(&'static str, Transport); 4] = [
        ("auto", Transport::Auto),
        ("shm", Transport::Shm),
        ("tcp", Transport::Tcp),
        ("rdma", Transport::Rdma),
    ];

    /// The one that the user has named, if any.
    pub fn named() -> Result<Transport> {
        Transport::of(std::env::var(TRANSPORT).ok().as_deref())
    }

    fn of(text: Option<&str>) -> Result<Transport> {
        let text = text.map_or("", str::trim);
        if text.is_empty() {
            return Ok(Transport::Auto);
        }
        let known = Transport::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, transport)| transport).ok_or_else(|| {
            let what = format_args!("`{text}` is none of auto, shm, tcp, rdma");
            argument(Class::Other, TRANSPORT, what)
        })
    }

    /// Whether threads that wait share their cores with an agent of the process's own, that of the device in software: one that gets its core
    /// back late is not in anybody's way then, and a wake takes much longer than a message.
    pub fn has_agent(self) -> bool {
        self == Transport::Rdma && !has_adapter()
    }

    /// The job as messages see it: where they do not go through shared memory, no process shares any with another, as if each were on
    /// a host of its own. How many processes the hosts have it tells as before.
    pub fn job(self, job: &Job) -> Result<Job> {
        match self {
            Transport::Shm if job.hosts.count() > 1 => {
                let hosts = job.hosts.count();
                let what = format_args!(
                    "`shm` reaches one host, and this job runs on {hosts} (ranks that cannot open each other's memory, as in containers or of users of their own, count as on several)"
                );
                Err(argument(Class::Other, TRANSPORT, what))
            }
            Transport::Auto | Transport::Shm => Ok(job.clone()),
            Transport::Tcp | Transport::Rdma => Ok(Job {
                local_ranks: vec![job.rank],
                hosts: Hosts::named(0..job.size),
                ..job.clone()
            }),
        }
    }
}

/// The endpoint category that the user has named, if any.
pub(crate) fn named_category(text: Option<&str>) -> Result<Option<Category>> {
    match text.map_or("", str::trim) {
        "" => Ok(None),
        text => {
            let category = text.parse::<Category>();
            category
                .map(Some)
                .map_err(|why: String| argument(Class::Other, ENDPOINTS, why))
        }
    }
}

/// The adapters that the user has named, if any.
pub(crate) fn named_adapters(text: Option<&str>) -> Result<Selection> {
    let named = text.unwrap_or_default().parse::<Selection>();
    named.map_err(|why| argument(Class::Other, ADAPTERS, why))
}

/// The receive pools that the user has specified, if any. What is wrong with a specification is told with the character.
pub(crate) fn named_pools(text: Option<&str>) -> Result<Option<Pools>> {
    match text.map_or("", str::trim) {
        "" => Ok(None),
        text => match text.parse::<Pools>() {
            Ok(pools) => Ok(Some(pools)),
            Err(why) => Err(argument(Class::Other, RECEIVE_POOLS, why)),
        },
    }
}

/// Whether the kernel knows an adapter: without one, nothing is loaded to look for more. The device in software, which it does not know,
/// is used where it is asked for by name.
pub(crate) fn has_adapter() -> bool {
    fs::read_dir(LISTED).is_ok_and(|mut adapters| adapters.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_is_one_of_four() {
        for (name, transport) in Transport::ALL {
            assert_eq!(Transport::of(Some(name)).unwrap(), transport);
        }
        assert_eq!(Transport::of(None).unwrap(), Transport::Auto);
        assert_eq!(Transport::of(Some(" ")).unwrap(), Transport::Auto);
        let error = Transport::of(Some("ib")).unwrap_err();
        assert_eq!(error.argument.as_deref(), Some(TRANSPORT));
    }

    #[test]
    fn a_category_is_one_of_the_paper_s() {
        let dynamic = named_category(Some("2xdynamic")).unwrap();
        assert_eq!(dynamic, Some(Category::TwoXDynamic));
        assert_eq!(named_category(Some("")).unwrap(), None);
        let error = named_category(Some("mine")).unwrap_err();
        assert_eq!(error.argument.as_deref(), Some(ENDPOINTS));
    }

    #[test]
    fn a_wrong_name_of_an_adapter_is_an_error() {
        assert!(named_adapters(None).unwrap().is_empty());
        assert!(!named_adapters(Some("mlx5_0, mlx5_1:2")).unwrap().is_empty());
        let error = named_adapters(Some("mlx5_0:two")).unwrap_err();
        assert_eq!(error.argument.as_deref(), Some(ADAPTERS));
        assert!(error.to_string().contains("`two`"), "{error}");
    }

    #[test]
    fn a_wrong_pool_is_pointed_at() {
        let pools = named_pools(Some(" S,2k,256 ")).unwrap().unwrap();
        assert_eq!(pools.to_string(), "S,2k,256,128,32");
        assert_eq!(named_pools(None).unwrap(), None);
        let error = named_pools(Some("S,2k,256:S,1k,8")).unwrap_err();
        assert_eq!(error.argument.as_deref(), Some(RECEIVE_POOLS));
        let text = error.to_string();
        assert!(
            text.ends_with("\n  S,2k,256:S,1k,8\n             ^"),
            "{text}"
        );
    }
}
