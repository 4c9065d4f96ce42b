//! Which tool of which framework is what: profiles and runner tables, as data.
//!
//! Profiles are TOML (assets/profiles/*.toml and user files); no logic per framework lives here.

/// All profiles that are known, built in and from user files.
#[derive(Debug, Default)]
pub struct Profiles {}

impl Profiles {
    /// The built-in profiles and runner table.
    #[must_use]
    pub fn builtin() -> Self {
        Self {}
    }
}
