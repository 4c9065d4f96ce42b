//! credscope: step-level credit assignment for groups of agent rollouts.
//!
//! Data walks one way, and a module imports only from those to its left:
//! `rollout · profile · facts · ingest · load · signature · graph · credit · analysis · settings ·
//! export · cli | tui`.

pub mod rollout;

pub mod profile;

pub mod facts;

pub mod ingest;

pub mod load;

pub mod signature;

pub mod graph;

pub mod credit;

pub mod analysis;

pub mod settings;

pub mod export;

pub mod cli;

#[cfg(feature = "tui")]
pub mod tui;
