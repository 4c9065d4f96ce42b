//! Actions at a granularity: small keys, with labels made when they are drawn.

use super::granularity::{EditIdentity, Granularity, ViewBucket};
use super::paths::Scope;
use crate::rollout::facts::{EditKind, Fact, StepFacts};
use crate::rollout::{Category, Extent, FactTable, Flags, StepResult, Sym, Symbols};

/// Which part of a file a view showed, at the granularity of the bucket knob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Span {
    /// Nothing is told apart.
    Any,
    /// The whole file.
    Full,
    /// A part that is not known.
    Part,
    /// Buckets from the first to the last.
    Buckets(u32, u32),
    /// From a bucket to the end.
    From(u32),
}

impl Span {
    pub(super) fn of(extent: Extent, granularity: &Granularity) -> Self {
        let width = match granularity.view_bucket {
            ViewBucket::Off | ViewBucket::File => {
                return match (granularity.view_extent, extent) {
                    (false, _) => Self::Any,
                    (true, Extent::Full) => Self::Full,
                    (true, _) => Self::Part,
                };
            }
            ViewBucket::Width(width) => width.max(1),
            ViewBucket::Lines => 1,
        };
        match extent {
            Extent::Full if granularity.view_extent => Self::Full,
            Extent::Full => Self::From(0),
            Extent::None => Self::Part,
            Extent::Lines(a, b) => Self::Buckets(a / width, b / width),
            Extent::From(a) if !granularity.view_extent => Self::From(a / width),
            Extent::From(a) => Self::From(a / width),
        }
    }

    /// The part between brackets, with the brackets; empty when there is none.
    pub(super) fn label(self) -> String {
        match self {
            Self::Buckets(a, b) => format!("[{a}-{b}]"),
            Self::From(a) => format!("[{a}-]"),
            Self::Any | Self::Full | Self::Part => String::new(),
        }
    }
}

/// What is left of an edit at a granularity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum EditKey {
    /// Nothing is told apart.
    Any,
    /// The way it was made.
    Kind(EditKind),
    /// The way and the first digits of its hash.
    Hash(EditKind, u64),
}

impl EditKey {
    pub(super) fn of(fact: &Fact, table: &FactTable, granularity: &Granularity) -> Self {
        let Some(edit) = fact.edit.and_then(|id| table.edit(id)) else {
            return Self::Any;
        };
        let bytes = match granularity.edit_identity {
            EditIdentity::None | EditIdentity::File => return Self::Any,
            EditIdentity::Kind => return Self::Kind(edit.kind),
            EditIdentity::NewText => &edit.new,
            EditIdentity::OldNew => &edit.old_new,
        };
        // No digits leave the way it was made.
        if granularity.edit_hash == 0 {
            return Self::Kind(edit.kind);
        }
        Self::Hash(edit.kind, short_hash(bytes, granularity.edit_hash))
    }

    /// The hash part of a label at this many digits.
    pub(super) fn label(self, digits: u32) -> String {
        match self {
            Self::Any => String::new(),
            Self::Kind(kind) => kind_name(kind).to_owned(),
            Self::Hash(_, hash) => format!("{hash:0width$x}", width = digits as usize),
        }
    }
}

/// The first hexadecimal digits of a hash, as a number.
pub(super) fn short_hash(bytes: &[u8; 32], digits: u32) -> u64 {
    let head = bytes.iter().take(8).fold(0_u64, |acc, &b| acc << 8 | u64::from(b));
    head >> (64 - 4 * digits.clamp(1, 16))
}

pub(super) const fn kind_name(kind: EditKind) -> &'static str {
    match kind {
        EditKind::Replace => "replace",
        EditKind::Insert => "insert",
        EditKind::Write => "write",
    }
}

/// An action at a granularity. Equal keys are equal actions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ActionKey {
    /// By category, scope, target and result.
    Coding {
        category: Category,
        op: Sym,
        span: Span,
        edit: Option<EditKey>,
        targets: Box<[Sym]>,
        result: StepResult,
        /// Tool name, for `other`.
        tool: Sym,
    },
    /// By tool and canonical arguments.
    Call { tool: Sym, brief: Sym, call: u64, failed: bool },
    /// A bare category (`respond`, `think`, `finish`).
    Bare(Category),
    /// A ready-made key.
    Logged(Sym),
}

impl ActionKey {
    /// The action of a step in the `swe` abstraction.
    pub(super) fn coding(
        step: &StepFacts,
        table: &FactTable,
        symbols: &Symbols,
        granularity: &Granularity,
        scope: &mut Scope,
    ) -> Self {
        let fact = &step.action;
        let category = fact.category;
        let mut targets: Vec<Sym> = table
            .targets_of(fact)
            .iter()
            .map(|&path| scope.of(path, symbols, granularity))
            .filter(|path| !path.is_none())
            .collect();
        targets.sort_unstable();
        targets.dedup();
        let shown = match category {
            _ if !granularity.result => StepResult::Unknown,
            Category::Test | Category::Execute => fact.result,
            _ if fact.result.failed() => fact.result,
            _ => StepResult::Unknown,
        };
        let keeps_op = !matches!(category, Category::View | Category::Modify | Category::Create)
            || fact.flags.has(Flags::REVERT)
            || fact.flags.has(Flags::UNSTASH);
        let edits = matches!(category, Category::Modify | Category::Create);
        Self::Coding {
            category,
            op: if keeps_op && category != Category::Test { fact.op } else { Sym::NONE },
            span: if category == Category::View {
                Span::of(fact.extent, granularity)
            } else {
                Span::Any
            },
            edit: if edits && !keeps_op {
                Some(EditKey::of(fact, table, granularity))
            } else {
                None
            },
            targets: targets.into(),
            result: shown,
            tool: if category == Category::Other { step.tool } else { Sym::NONE },
        }
    }

    /// The action of a step in the abstractions that go by calls.
    pub(super) fn call(step: &StepFacts) -> Self {
        if step.tool.is_none() {
            return Self::Bare(step.action.category);
        }
        Self::Call { tool: step.tool, brief: step.brief, call: step.call, failed: false }
    }

    /// The signature as text.
    pub(super) fn label(
        &self,
        symbols: &Symbols,
        paths: &dyn Fn(Sym) -> String,
        granularity: &Granularity,
    ) -> String {
        match self {
            Self::Bare(category) => category.name().to_owned(),
            Self::Logged(key) => symbols.text(*key).to_owned(),
            Self::Call { tool, brief, call, .. } => {
                let (tool, brief) = (symbols.text(*tool), symbols.text(*brief));
                if brief.is_empty() {
                    format!("{tool}:{:04x}", call >> 48)
                } else if brief.ends_with('…') {
                    // Cut arguments are no identity: the hash of the whole call tells them apart.
                    format!("{tool}({brief})#{:06x}", call >> 40)
                } else {
                    format!("{tool}({brief})")
                }
            }
            Self::Coding { category, op, span, edit, targets, result, tool } => {
                let mut label = category.name().to_owned();
                let mut part = |text: &str| {
                    if !text.is_empty() {
                        label.push(':');
                        label.push_str(text);
                    }
                };
                match category {
                    Category::View => match span {
                        Span::Any => {}
                        Span::Full => part("full"),
                        Span::Part | Span::Buckets(..) | Span::From(_) => {
                            part(&format!("partial{}", span.label()));
                        }
                    },
                    Category::Other => part(symbols.text(*tool)),
                    _ => part(symbols.text(*op)),
                }
                match edit {
                    Some(EditKey::Hash(kind, _)) if *category == Category::Modify => {
                        part(kind_name(*kind));
                        part(&edit.map_or_else(String::new, |e| e.label(granularity.edit_hash)));
                    }
                    Some(key) => part(&key.label(granularity.edit_hash)),
                    None => {}
                }
                if !targets.is_empty() {
                    let mut names: Vec<String> = targets.iter().map(|&t| paths(t)).collect();
                    names.sort();
                    label.push('@');
                    label.push_str(&names.join("+"));
                }
                let shown =
                    matches!(category, Category::Test | Category::Execute) && granularity.result;
                if shown || *result != StepResult::Unknown {
                    label.push(':');
                    label.push_str(result.name());
                }
                label
            }
        }
    }
}
