mod message;
mod random;
mod stories;
mod world;
