//! Kinds make tables, formats write tables.

pub mod text;
