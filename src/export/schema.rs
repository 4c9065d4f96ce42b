//! The JSON Schemas of the outputs, shipped with the program.

macro_rules! schemas {
    ($($name:literal),* $(,)?) => {
        /// Every kind with its JSON Schema (draft 2020-12).
        pub const SCHEMAS: [(&str, &str); [$($name),*].len()] = [
            $(($name, include_str!(concat!("../../assets/schemas/", $name, ".json")))),*
        ];
    };
}

schemas!(
    "report",
    "groups",
    "steps",
    "quadrants",
    "tree",
    "explain",
    "sweep",
    "skill",
    "panel",
    "stability",
    "compare",
    "compare-runs",
    "simulate",
    "check",
    "formats",
    "estimators",
    "profiles",
    "themes",
    "keys",
    "settings",
    "advantages",
    "native",
);

/// The schema of a kind.
#[must_use]
pub fn find(kind: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(name, _)| *name == kind).map(|(_, text)| *text)
}
