//! Rates as multiples of 2.5 Gbit/s and as Mbit/s (ibv_rate_to_mult(3), ibv_rate_to_mbps(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

const NONE: c_int = -1;

/// Rate, multiple of the base rate where it is one, Mbit/s.
#[rustfmt::skip]
const RATES: &[(ibv_rate, c_int, c_int)] = &[
    (IBV_RATE_2_5_GBPS, 1, 2_500),
    (IBV_RATE_5_GBPS, 2, 5_000),
    (IBV_RATE_10_GBPS, 4, 10_000),
    (IBV_RATE_20_GBPS, 8, 20_000),
    (IBV_RATE_30_GBPS, 12, 30_000),
    (IBV_RATE_40_GBPS, 16, 40_000),
    (IBV_RATE_60_GBPS, 24, 60_000),
    (IBV_RATE_80_GBPS, 32, 80_000),
    (IBV_RATE_120_GBPS, 48, 120_000),
    (IBV_RATE_14_GBPS, NONE, 14_062),
    (IBV_RATE_56_GBPS, NONE, 56_250),
    (IBV_RATE_112_GBPS, NONE, 112_500),
    (IBV_RATE_168_GBPS, NONE, 168_750),
    (IBV_RATE_25_GBPS, NONE, 25_781),
    (IBV_RATE_100_GBPS, NONE, 103_125),
    (IBV_RATE_200_GBPS, NONE, 206_250),
    (IBV_RATE_300_GBPS, NONE, 309_375),
    (IBV_RATE_28_GBPS, 11, 28_125),
    (IBV_RATE_50_GBPS, 20, 53_125),
    (IBV_RATE_400_GBPS, 160, 425_000),
    (IBV_RATE_600_GBPS, 240, 637_500),
    (IBV_RATE_800_GBPS, 320, 850_000),
    (IBV_RATE_1200_GBPS, 480, 1_275_000),
];

pub extern "C" fn ibv_rate_to_mult(rate: ibv_rate) -> c_int {
    let found = RATES.iter().find(|row| row.0 == rate);
    found.map_or(NONE, |row| row.1)
}

pub extern "C" fn mult_to_ibv_rate(mult: c_int) -> ibv_rate {
    let found = RATES.iter().find(|row| row.1 == mult && mult != NONE);
    found.map_or(IBV_RATE_MAX, |row| row.0)
}

pub extern "C" fn ibv_rate_to_mbps(rate: ibv_rate) -> c_int {
    let found = RATES.iter().find(|row| row.0 == rate);
    found.map_or(NONE, |row| row.2)
}

pub extern "C" fn mbps_to_ibv_rate(mbps: c_int) -> ibv_rate {
    let found = RATES.iter().find(|row| row.2 == mbps);
    found.map_or(IBV_RATE_MAX, |row| row.0)
}
