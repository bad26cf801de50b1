//! Rules for several hosts as measured. Written by `make tune`: do not edit.
//!
//! Nothing has been measured: the counted rules stand alone.

#[allow(
    unused_imports,
    reason = "what rules are written with, be there any or not"
)]
use super::rules::{ANY, HostsRule, KIB, hosts_rule, measured};

measured! {
    barrier {
    }
    bcast {
    }
    reduce {
    }
    allreduce {
    }
    reduce_scatter {
    }
    gather {
    }
    scatter {
    }
    allgather {
    }
    alltoall {
    }
    scan {
    }
}
