//! Every algorithm against an oracle that computes the result from all inputs, on a network in one thread
//! whose order of events a seed decides.

mod barrier;
mod blocks;
mod case;
mod counts;
mod data;
mod deaths;
mod errors;
mod inter;
mod lost_ranks;
mod neighborhood;
mod order;
mod placements;
mod reduce_scatter;
mod reductions;
mod rooted;
mod rounds;
mod short;
mod world;
