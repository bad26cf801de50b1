//! Routines that follow no rule.

mod attribute;
mod callback;
mod contents;
mod predefined;
mod representation;
mod spawn;
mod text;
