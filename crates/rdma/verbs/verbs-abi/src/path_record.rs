//! Path records, as the subnet administration gives them (`infiniband/sa.h`).

use core::ffi::c_int;

use crate::ibv_gid;
use crate::macros::zeroed;

/// Numbers of more than a byte are big endian, but for `raw_traffic` and `reversible`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_sa_path_rec {
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: u16,
    pub slid: u16,
    pub raw_traffic: c_int,
    pub flow_label: u32,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub reversible: c_int,
    pub numb_path: u8,
    pub pkey: u16,
    pub sl: u8,
    pub mtu_selector: u8,
    pub mtu: u8,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub preference: u8,
}

zeroed! {
    ibv_sa_path_rec: 64,
}
