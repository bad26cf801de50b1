//! What carries this process's messages: shared memory within its host and, if the job has several, RDMA or TCP between hosts; or one
//! of these alone, where the user says so.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use weft_bootstrap::Job;
use weft_engine::{LANES, describe_packet};
use weft_error::{Class, Error, Result, argument};
use weft_rdma::{Common, Rdma, Use};
use weft_routes::{Address, Decide, Either, Route, Routes, card, part};
use weft_shm::Shm;
use weft_tcp::{Options, Tcp, explained, is_on_common_network, prefix_of};
use weft_transport::Directory;
use weft_transport::tracer::{Lines, Trace};

use super::trace;
use super::transport::{
    ADAPTERS, ENDPOINTS, RECEIVE_POOLS, TRANSPORT, Transport, has_adapter, named_adapters,
    named_category, named_pools,
};

/// The fabric of every process.
pub type Network = Routes<Shm, Distant>;
/// What reaches processes that share no memory with this one.
pub(crate) type Distant = Either<Rdma, Tcp>;

/// What the cards of shared memory begin with.
const NEAR: &str = "shm";

/// Names the interfaces whose addresses are told to other hosts, with commas between them; all that are up if it is not set.
pub const INTERFACE: &str = "WEFT_INTERFACE";
/// Seconds for which another host may be silent before its ranks are lost; 0 for ever.
pub const TIMEOUT: &str = "WEFT_NETWORK_TIMEOUT";

/// Tells which network namespace the launcher's agent on this host is in, as mpiexec does.
const NETWORK: &str = "WEFT_HOST_NETWORK";

/// Whether this process is in the network namespace of that number.
fn is_in_network(number: Option<String>) -> bool {
    let own = std::fs::metadata("/proc/self/ns/net").ok();
    own.is_some_and(|own| number == Some(own.ino().to_string()))
}

/// Attaches this process to what its job needs, and gives the card by which the others find it there. They find it, and
/// it finds them, by `cards`. On which hosts processes are, `job` tells as far as they share memory ([`Transport::job`]);
/// `placed` is the job in any case.
pub fn attach(
    job: &Job,
    transport: Transport,
    placed: &Job,
    cards: Arc<dyn Directory>,
) -> Result<(Network, String)> {
    let lines = trace::lines(job.rank, job.size).map_err(|why| Error::new(Class::Other, why))?;
    let near = Shm::new(job.rank, &job.local_ranks, LANES, address(&cards, NEAR));
    let mut near = near.map_err(|error| failed("shared memory", error))?;
    if job.hosts.count() == 1 {
        let card = near.card();
        return Ok((traced(Routes::new(near, None), lines, job, cards)?, card));
    }
    near.use_descriptor()
        .map_err(|error| failed("shared memory", error))?;
    let (far, ways) = distant(job, transport, placed, &cards)?;
    let ways = [vec![near.card()], ways].concat();
    let network = traced(Routes::new(near, Some(far)), lines, job, cards)?;
    Ok((network, card(&ways)))
}

/// Which of a host's ranks share memory by what they are to use, as the first of them finds from their cards: a number for each,
/// alike for those that do.
pub fn groups(network: &Network, transport: Transport, cards: &[String]) -> Vec<u32> {
    match transport {
        Transport::Auto | Transport::Shm => {
            let cards: Vec<_> = cards.iter().map(|card| part(card, NEAR)).collect();
            network.near().groups(&cards)
        }
        // None do, and each is on a host of its own already.
        Transport::Tcp | Transport::Rdma => vec![0; cards.len()],
    }
}

/// The cards of the way that begins with `way`.
fn address(cards: &Arc<dyn Directory>, way: &'static str) -> Arc<Address> {
    Arc::new(Address::new(cards.clone(), way))
}

/// What reaches processes that share no memory with this one, and its cards.
fn distant(
    job: &Job,
    transport: Transport,
    placed: &Job,
    cards: &Arc<dyn Directory>,
) -> Result<(Distant, Vec<String>)> {
    let rdma = match transport {
        Transport::Rdma => Some(rdma(job, placed, cards)?),
        Transport::Auto if has_adapter() => match rdma(job, placed, cards) {
            Ok(rdma) => Some(rdma),
            // The user who has named adapters, a category, or pools, means an adapter.
            Err(error) if names_an_adapter() => return Err(error),
            Err(_) => None,
        },
        _ => None,
    };
    if let (Some(rdma), Transport::Rdma) = (&rdma, transport) {
        return Ok((Either::first(rdma.clone()), vec![rdma.card()]));
    }
    let mut options = options(job, |name| std::env::var(name).ok())?;
    options.is_one_host = placed.hosts.count() == 1 && is_in_network(std::env::var(NETWORK).ok());
    let tcp = Tcp::new(job.rank, job.size, LANES, address(cards, "tcp"), options);
    let tcp = tcp.map_err(|error| {
        failed(
            "TCP, for the ranks that this one shares no memory with",
            error,
        )
    })?;
    let tcp_card = tcp.card();
    Ok(match rdma {
        None => (Either::second(tcp), vec![tcp_card]),
        Some(rdma) => {
            let card = rdma.card();
            let decide = decide(rdma.clone(), address(cards, "rdma"));
            (Either::both(rdma, tcp, decide), vec![card, tcp_card])
        }
    })
}

/// A peer is reached by the adapter if its own is on a common network.
fn decide(rdma: Rdma, cards: Arc<Address>) -> Decide {
    Box::new(move |peer| {
        let common = cards.card(peer).map(|card| rdma.common_with(&card));
        let leads = |common: Common| match common {
            Common::Subnet => true,
            Common::Ethernet(address) => is_on_common_network(address),
            Common::Nothing => false,
        };
        match common.unwrap_or_default().into_iter().any(leads) {
            true => Route::First,
            false => Route::Second,
        }
    })
}

fn names_an_adapter() -> bool {
    [ADAPTERS, ENDPOINTS, RECEIVE_POOLS]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some())
}

fn rdma(job: &Job, placed: &Job, cards: &Arc<dyn Directory>) -> Result<Rdma> {
    let variable = |name: &str| std::env::var(name).ok();
    let defaults = weft_rdma::Options::default();
    let hosts = placed.hosts.clone();
    let options = weft_rdma::Options {
        job: job.id.clone(),
        adapters: named_adapters(variable(ADAPTERS).as_deref())?,
        prefix_of,
        category: named_category(variable(ENDPOINTS).as_deref())?,
        pools: named_pools(variable(RECEIVE_POOLS).as_deref())?,
        first_of_host: placed.local_ranks.first().copied(),
        host_of: Arc::new(move |peer| hosts.ranks(hosts.of(peer)).collect()),
        processes: job.local_size,
        timeout: match variable(TIMEOUT) {
            Some(text) => timeout(&text)?,
            None => defaults.timeout,
        },
        ..defaults
    };
    let rdma = Rdma::new(job.rank, job.size, LANES, address(cards, "rdma"), options);
    rdma.map_err(|why| argument(Class::Other, TRANSPORT, format_args!("`rdma`: {why}")))
}

fn failed(what: &str, error: io::Error) -> Error {
    Error::new(Class::Other, format!("{what}: {}", explained(error)))
}

/// `network`, of which all is told if there is a place for `lines`.
fn traced(
    network: Network,
    lines: Option<Arc<dyn Lines>>,
    job: &Job,
    cards: Arc<dyn Directory>,
) -> Result<Network> {
    let Some(lines) = lines else {
        return Ok(network);
    };
    let nobody = Shm::new(job.rank, &[job.rank], LANES, cards);
    let nobody = nobody.map_err(|error| failed("shared memory, for a trace", error))?;
    let trace = Trace::new(job.rank, describe_packet, lines);
    Ok(network.traced(nobody, trace))
}

fn options(job: &Job, variable: impl Fn(&str) -> Option<String>) -> Result<Options> {
    let mut options = Options {
        job: job.id.clone(),
        interfaces: names(&variable(INTERFACE).unwrap_or_default()),
        ..Options::default()
    };
    if let Some(text) = variable(TIMEOUT) {
        options.timeout = timeout(&text)?;
    }
    Ok(options)
}

fn names(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The interfaces by which this process reaches other hosts, or would, by name; none if the user names one that there is not.
pub fn interfaces() -> Vec<String> {
    let named = names(&std::env::var(INTERFACE).unwrap_or_default());
    weft_tcp::interfaces(&named).unwrap_or_default()
}

fn timeout(text: &str) -> Result<Option<Duration>> {
    match text.trim().parse::<u32>() {
        Ok(0) => Ok(None),
        Ok(seconds) => Ok(Some(Duration::from_secs(seconds.into()))),
        Err(_) => {
            let what = format_args!("`{text}` is not a number of seconds");
            Err(argument(Class::Other, TIMEOUT, what))
        }
    }
}

/// The RDMA adapters that this process would use, by name and port; none if there is none or the user names one that there is not.
pub fn adapters() -> Vec<String> {
    let named = named_adapters(std::env::var(ADAPTERS).ok().as_deref());
    // Nothing is loaded to look for adapters that are not asked for.
    let transport = Transport::named();
    let is_asked = matches!(transport, Ok(Transport::Rdma)) || has_adapter();
    let survey = named.ok().filter(|_| is_asked);
    let survey = survey.and_then(|named| weft_rdma::survey(&named).ok());
    let used = survey.into_iter().flatten();
    used.filter(|(_, use_)| *use_ == Use::Used)
        .map(|(found, _)| found.to_string())
        .collect()
}

/// Seconds of the time-out that the user chose, or that there is; 0 stands for none.
pub fn timeout_seconds() -> u64 {
    let chosen = std::env::var(TIMEOUT).ok();
    let chosen = chosen.and_then(|text| timeout(&text).ok());
    let timeout = chosen.unwrap_or(Options::default().timeout);
    timeout.map_or(0, |timeout| timeout.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_namespace_is_known_by_its_number() {
        let own = std::fs::metadata("/proc/self/ns/net").unwrap().ino();
        assert!(is_in_network(Some(own.to_string())));
        assert!(!is_in_network(Some((own + 1).to_string())) && !is_in_network(None));
    }

    #[test]
    fn interfaces_are_names_with_commas_between() {
        assert_eq!(names("eth0, ib0,,"), ["eth0", "ib0"]);
        assert!(names(" ").is_empty());
    }

    #[test]
    fn a_time_out_is_a_number_of_seconds() {
        assert_eq!(timeout("5").unwrap(), Some(Duration::from_secs(5)));
        assert_eq!(timeout(" 0 ").unwrap(), None);
        for text in ["", "-1", "5s", "4294967296"] {
            let error = timeout(text).unwrap_err();
            assert_eq!(error.argument.as_deref(), Some(TIMEOUT), "{text}");
        }
    }
}
