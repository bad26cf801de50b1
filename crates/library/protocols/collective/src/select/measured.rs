//! Rules as measured. Written by `weft bench collectives --tune --rules FILE` and `make tune`: do not edit.
//!
//! 1x4: Intel(R) Xeon(R) Processor, 16 cores, Linux 6.18.44-fc-v657-gpu, load 8.91, 2026-11-28T05:35:38Z
//! 1x8: Intel(R) Xeon(R) Processor, 16 cores, Linux 6.18.44-fc-v657-gpu, load 9.60, 2026-11-28T05:35:00Z
//! 1x16: Intel(R) Xeon(R) Processor, 16 cores, Linux 6.18.44-fc-v657-gpu, load 2.56, 2026-11-28T05:34:06Z

#[allow(
    unused_imports,
    reason = "what rules are written with, be there any or not"
)]
use super::rules::{ANY, Cores, HostsRule, KIB, Rule, hosts_rule, measured, rule};

measured! {
    barrier {
        4, ANY => Shared;
        8, ANY => Shared;
        16, ANY => Shared;
    } hosts {
    }
    bcast {
        4, 8 * KIB => Shared;
        4, 512 * KIB => Linear;
        4, ANY => Binomial;
        8, 128 * KIB => Shared;
        8, ANY => Binomial;
        16, 128 * KIB => Shared;
        16, 2048 * KIB => Chain;
        16, ANY => Shared;
    } hosts {
    }
    reduce {
        4, KIB => Shared;
        4, 64 * KIB => Linear;
        4, 128 * KIB => Shared;
        4, ANY => ReduceScatterGather;
        8, KIB => Shared;
        8, 16 * KIB => Linear;
        8, 512 * KIB => ReduceScatterGather;
        8, ANY => Direct;
        8, ANY => ReduceScatterGather;
        16, 128 => Shared;
        16, 8 * KIB => Linear;
        16, 2048 * KIB => ReduceScatterGather;
        16, ANY => Direct;
        16, ANY => ReduceScatterGather;
    } hosts {
    }
    allreduce {
        4, KIB => Shared;
        4, 8 * KIB => RecursiveDoubling;
        4, 512 * KIB => Rabenseifner;
        4, ANY => Direct;
        4, ANY => Rabenseifner;
        8, KIB => Shared;
        8, 8 * KIB => RecursiveDoubling;
        8, 512 * KIB => Rabenseifner;
        8, ANY => Direct;
        8, ANY => Rabenseifner;
        16, 128 => Shared;
        16, 8 * KIB => RecursiveDoubling;
        16, 2048 * KIB => Rabenseifner;
        16, ANY => Direct;
        16, ANY => Rabenseifner;
    } hosts {
    }
    reduce_scatter {
        4, 32 * KIB => Shared;
        4, 512 * KIB => Pairwise;
        4, ANY => Direct;
        4, ANY => Pairwise;
        8, 64 * KIB => Shared;
        8, 1024 * KIB => Pairwise;
        8, ANY => Direct;
        8, ANY => Pairwise;
        16, 16 * KIB => Shared;
        16, 128 * KIB => RecursiveHalving;
        16, 2048 * KIB => Pairwise;
        16, ANY => Direct;
        16, ANY => Pairwise;
    } hosts {
    }
    gather {
        4, KIB => Shared;
        4, 2048 * KIB => Linear;
        4, ANY => Shared;
        8, 128 => Shared;
        8, ANY => Linear;
        16, 128 => Shared;
        16, 16 * KIB => Linear;
        16, 64 * KIB => Direct;
        16, 64 * KIB => Linear;
        16, ANY => Linear;
    } hosts {
    }
    scatter {
        4, KIB => Shared;
        4, 512 * KIB => Linear;
        4, ANY => Direct;
        4, ANY => Linear;
        8, 16 => Shared;
        8, 512 * KIB => Linear;
        8, ANY => Direct;
        8, ANY => Linear;
        16, 64 * KIB => Linear;
        16, ANY => Direct;
        16, ANY => Linear;
    } hosts {
    }
    allgather {
        4, 16 * KIB => Shared;
        4, 128 * KIB => Direct;
        4, 128 * KIB => Shared;
        4, 2048 * KIB => Direct;
        4, 2048 * KIB => Ring;
        4, ANY => Ring;
        8, 16 * KIB => Shared;
        8, ANY => Direct;
        8, ANY => Shared;
        16, 128 * KIB => Shared;
        16, 512 * KIB => Direct;
        16, 512 * KIB => Shared;
        16, ANY => Shared;
    } hosts {
    }
    alltoall {
        4, 8 * KIB => Shared;
        4, 16 * KIB => Linear;
        4, 2048 * KIB => Direct;
        4, 2048 * KIB => Linear;
        4, ANY => Linear;
        8, 8 * KIB => Shared;
        8, 16 * KIB => Linear;
        8, 512 * KIB => Direct;
        8, 512 * KIB => Linear;
        8, ANY => Direct;
        8, ANY => Pairwise;
        16, 2 * KIB => Shared;
        16, 16 * KIB => Linear;
        16, 2048 * KIB => Direct;
        16, 2048 * KIB => Linear;
        16, ANY => Direct;
        16, ANY => Pairwise;
    } hosts {
    }
    scan {
        4, ANY => Shared;
        8, ANY => Shared;
        16, 128 * KIB => Shared;
        16, ANY => RecursiveDoubling;
    } hosts {
    }
}
