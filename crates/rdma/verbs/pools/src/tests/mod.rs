mod account;
mod credits;
mod selection;
mod specification;
mod strategies;
