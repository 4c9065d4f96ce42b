//! The one table of all settings: flags, environment, config keys, help and exports come from it.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::spec::{Apply, Class, Form, Spec};
use super::{THEMES, Uniform, When, config, parse};
use crate::credit::{
    BonusOn, DiscountPer, FRAMEWORKS, Framework, Prior, StepRewardMode, Visit, registry,
};
use crate::load::Pool;
use crate::signature::{Abstraction, Granularity};

/// The setting of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Spec> {
    SETTINGS.iter().find(|s| s.name == name)
}

const fn spec(
    name: &'static str,
    (class, form): (Class, Form),
    value: &'static str,
    default: &'static str,
    help: &'static str,
    apply: Apply,
) -> Spec {
    Spec { name, class, form, value, default, help, stamped: true, yields_to: None, apply }
}

const INF: f64 = f64::INFINITY;
const ANY: f64 = f64::NEG_INFINITY;

/// All settings, in the order of help and exports; a later one builds on those before it.
pub static SETTINGS: &[Spec] = &[
    spec(
        "from",
        (Class::Load, Form::Text),
        "FORMAT",
        "",
        "read everything with this reader instead of looking at the content",
        |s, v| parse::text(v).map(|v| s.load.from = Some(v)),
    ),
    spec("only", (Class::Load, Form::Text), "TASK", "", "keep only this task", |s, v| {
        parse::text(v).map(|v| s.load.only = Some(v))
    }),
    spec(
        "group-by",
        (Class::Load, Form::Text),
        "FIELD",
        "",
        "group rollouts by this field instead of the task id",
        |s, v| parse::text(v).map(|v| s.load.group_by = Some(v)),
    ),
    spec(
        "pool",
        (Class::Load, Form::List),
        "policy|train_step",
        "",
        "merge groups that differ in these parts of the key alone",
        |s, v| {
            let mut pool = Pool::default();
            for part in v.split(',') {
                match part.trim() {
                    "policy" => pool.policy = true,
                    "train_step" => pool.train_step = true,
                    _ => return Err("expected policy, train_step or both".to_owned()),
                }
            }
            s.load.pool = pool;
            Ok(())
        },
    ),
    spec(
        "success-at",
        (Class::Load, Form::Text),
        "X|'>X'",
        "1",
        "a number is a success from X on, or above X",
        |s, v| v.parse().map(|rule| s.load.success_at = rule),
    ),
    spec(
        "outcomes",
        (Class::Load, Form::Many),
        "FILE",
        "",
        "verdicts of a CSV or JSON map, rollout or path to outcome or reward; it outweighs the rollouts' own",
        |s, v| parse::text(v).map(|v| s.load.outcomes.push(PathBuf::from(v))),
    ),
    spec(
        "sidecar",
        (Class::Load, Form::Many),
        "FILE",
        "",
        "numbers and keys per step of a CSV or JSONL file with rollout and step: state, action, step_reward, columns for logged:NAME",
        |s, v| parse::text(v).map(|v| s.load.sidecars.push(PathBuf::from(v))),
    ),
    spec(
        "profile",
        (Class::Facts, Form::Many),
        "FILE",
        "",
        "a profile in TOML that says which tool of a framework is what; it is looked at before the built-in ones",
        |s, v| parse::text(v).map(|v| s.profiles.push(PathBuf::from(v))),
    ),
    spec(
        "runners",
        (Class::Facts, Form::Many),
        "FILE",
        "",
        "test runners in TOML, as assets/runners.toml has them; they are looked at before the built-in ones",
        |s, v| parse::text(v).map(|v| s.runners.push(PathBuf::from(v))),
    ),
    spec(
        "abstraction",
        (Class::Projection, Form::Text),
        "auto|swe|observation|history|tools|page|logged|index",
        "auto",
        "what a state is made of; auto chooses by the group and says why",
        |s, v| {
            s.analysis.abstraction = match v.trim() {
                "auto" => None,
                id => Some(Abstraction::find(id).ok_or_else(|| {
                    let ids = Abstraction::ALL.map(Abstraction::id);
                    let near = config::meant(id, ids.into_iter());
                    format!("expected auto, {}{near}", ids.join(", "))
                })?),
            };
            Ok(())
        },
    ),
    spec(
        "preset",
        (Class::Projection, Form::Text),
        "paper|paper-literal|coarse|coarser|fine|exact",
        "paper",
        "granularity of signatures",
        |s, v| {
            s.analysis.granularity =
                Granularity::preset(v.trim()).map_err(|e| config::told_knob(&e))?;
            Ok(())
        },
    ),
    spec(
        "knob",
        (Class::Projection, Form::Many),
        "NAME=VALUE",
        "",
        "one knob of the granularity, as in view-bucket=50",
        |s, v| {
            let (name, value) =
                v.split_once('=').ok_or("expected NAME=VALUE, as in view-bucket=50")?;
            s.analysis.granularity.set(name.trim(), value.trim()).map_err(|e| config::told_knob(&e))
        },
    )
    .under("preset"),
    spec(
        "empty",
        (Class::Credit, Form::Text),
        "include|exclude",
        "include",
        "scored rollouts without steps",
        |s, v| {
            let both = [("include", true), ("exclude", false)];
            parse::choice(v, &both).map(|v| s.analysis.credit.include_empty = v)
        },
    ),
    spec(
        "truncated",
        (Class::Credit, Form::Text),
        "failure|exclude",
        "failure",
        "rollouts that a limit stopped: count as failures, or are left out",
        |s, v| {
            let both = [("failure", true), ("exclude", false)];
            parse::choice(v, &both).map(|v| s.analysis.credit.truncated_as_failure = v)
        },
    ),
    spec(
        "errors",
        (Class::Credit, Form::Text),
        "exclude|failure",
        "exclude",
        "rollouts that the infrastructure ended: are left out, or count as failures",
        |s, v| {
            let both = [("exclude", false), ("failure", true)];
            parse::choice(v, &both).map(|v| s.analysis.credit.errors_as_failure = v)
        },
    ),
    spec(
        "reward-source",
        (Class::Credit, Form::Text),
        "outcome|logged",
        "outcome",
        "terminal reward R: 1 for a success and 0 for a failure, or the logged number",
        |s, v| {
            let both = [("outcome", false), ("logged", true)];
            parse::choice(v, &both).map(|v| s.logged = v)
        },
    ),
    spec(
        "reward",
        (Class::Credit, Form::List),
        "NAME|NAME=WEIGHT,…",
        "",
        "named rewards that make up the logged one (with --reward-source logged)",
        |s, v| parse::weights(v).map(|v| s.weights = v),
    ),
    spec(
        "step-reward",
        (Class::Credit, Form::Text),
        "auto|none|logged|computed",
        "auto",
        "reward of each step; auto: logged where there is one, else computed for swe, else none",
        |s, v| {
            let all = [
                StepRewardMode::Auto,
                StepRewardMode::None,
                StepRewardMode::Logged,
                StepRewardMode::Computed,
            ]
            .map(|m| (m.name(), m));
            parse::choice(v, &all).map(|v| s.analysis.credit.step_reward = v)
        },
    ),
    spec(
        "step-valid",
        (Class::Credit, Form::Number),
        "X",
        "0.005",
        "computed step reward of a valid action",
        |s, v| parse::number(v, ANY, INF).map(|v| s.analysis.credit.step_valid = v),
    ),
    spec(
        "step-invalid",
        (Class::Credit, Form::Number),
        "X",
        "-0.005",
        "computed step reward of an invalid action",
        |s, v| parse::number(v, ANY, INF).map(|v| s.analysis.credit.step_invalid = v),
    ),
    spec(
        "beta",
        (Class::Credit, Form::Number),
        "X",
        "0.05",
        "bonus of a validation action in computed step rewards",
        |s, v| parse::number(v, ANY, INF).map(|v| s.analysis.credit.beta = v),
    ),
    spec(
        "bonus-on",
        (Class::Credit, Form::Text),
        "test|test+run|first-after-edit|off",
        "test",
        "what earns the bonus; a reading: the paper prints its size, not its trigger",
        |s, v| {
            let all = [BonusOn::Test, BonusOn::TestOrRun, BonusOn::FirstAfterEdit, BonusOn::Off]
                .map(|m| (m.name(), m));
            parse::choice(v, &all).map(|v| s.analysis.credit.bonus_on = v)
        },
    ),
    spec("gamma", (Class::Credit, Form::Number), "X", "0.99", "discount per action", |s, v| {
        parse::number(v, 0.0, 1.0).map(|v| s.analysis.credit.gamma = v)
    }),
    spec(
        "discount-per",
        (Class::Credit, Form::Text),
        "call|turn",
        "call",
        "what the discount lies between: every two actions, or turns alone (calls side by side are one move); the columns on edges of the state graph go by actions always",
        |s, v| {
            let both = [DiscountPer::Call, DiscountPer::Turn].map(|d| (d.name(), d));
            parse::choice(v, &both).map(|v| s.analysis.credit.discount_per = v)
        },
    ),
    spec(
        "n-prior",
        (Class::Credit, Form::Number),
        "X",
        "2",
        "weight of the prior of V, in visits",
        |s, v| parse::number(v, 0.0, INF).map(|v| s.analysis.credit.n_prior = v),
    ),
    spec(
        "prior",
        (Class::Credit, Form::Text),
        "auto|rate|mean|return0",
        "auto",
        "prior of V: success rate, mean R, mean G_0; auto: rate for outcomes, mean for logged rewards",
        |s, v| {
            let all =
                [Prior::Auto, Prior::Rate, Prior::Mean, Prior::Return0].map(|m| (m.name(), m));
            parse::choice(v, &all).map(|v| s.analysis.credit.prior = v)
        },
    ),
    spec(
        "visit",
        (Class::Credit, Form::Text),
        "pair|state|every",
        "pair",
        "which visits of a rollout count: the first of each pair; V and N(s) over the first of each state, Q as before; all",
        |s, v| {
            let all = [Visit::Pair, Visit::State, Visit::Every].map(|m| (m.name(), m));
            parse::choice(v, &all).map(|v| s.analysis.credit.visit = v)
        },
    ),
    spec(
        "columns",
        (Class::Credit, Form::List),
        "A,B,…",
        "grpo,grpo-step,rtmc",
        "columns to compute, or all; `credscope estimators` lists them",
        |s, v| {
            s.columns = if v.trim() == "all" {
                registry().iter().map(|e| e.meta().id.to_owned()).collect()
            } else {
                parse::list(v)?
            };
            Ok(())
        },
    ),
    spec(
        "x",
        (Class::Credit, Form::Text),
        "COLUMN",
        "grpo-step",
        "column on the X axis of the quadrants",
        |s, v| parse::text(v).map(|v| s.analysis.x = v),
    ),
    spec(
        "y",
        (Class::Credit, Form::Text),
        "COLUMN",
        "rtmc",
        "column on the Y axis of the quadrants",
        |s, v| parse::text(v).map(|v| s.analysis.y = v),
    ),
    spec(
        "like",
        (Class::Credit, Form::Text),
        "verl|trl|roll|verl-agent|rllm|skyrl",
        "",
        "follow a training framework's conventions in the columns it has (see `credscope estimators`); --set goes on from there",
        |s, v| {
            let known = || {
                let ids: Vec<&str> = FRAMEWORKS.iter().map(|f| f.id).collect();
                format!("expected {}", ids.join(", "))
            };
            s.like = Some(Framework::find(v.trim()).ok_or_else(known)?);
            Ok(())
        },
    ),
    spec(
        "set",
        (Class::Credit, Form::Many),
        "COLUMN.PARAM=VALUE",
        "",
        "a parameter of a column, as in grpo.ddof=0",
        |s, v| {
            let (column, name, value) = parse::param(v)?;
            crate::credit::ColumnSpec::new(&column)
                .and_then(|mut spec| spec.set(&name, &value))
                .map_err(|e| config::told_column(&e))?;
            s.params.push((column, name, value));
            Ok(())
        },
    )
    .under("like"),
    spec(
        "tau",
        (Class::Credit, Form::Number),
        "T",
        "0.01",
        "threshold of both axes: a value counts when it is beyond it",
        |s, v| parse::number(v, 0.0, INF).map(|v| s.analysis.tau = (v, v)),
    ),
    spec(
        "tau-x",
        (Class::Credit, Form::Number),
        "T",
        "",
        "threshold of the X axis alone",
        |s, v| parse::number(v, 0.0, INF).map(|v| s.analysis.tau.0 = v),
    )
    .under("tau"),
    spec(
        "tau-y",
        (Class::Credit, Form::Number),
        "T",
        "",
        "threshold of the Y axis alone",
        |s, v| parse::number(v, 0.0, INF).map(|v| s.analysis.tau.1 = v),
    )
    .under("tau"),
    spec("seed", (Class::Credit, Form::Number), "N", "0", "seed of resampling", |s, v| {
        parse::count(v, 0).map(|v| s.analysis.seed = v)
    }),
    spec(
        "uniform",
        (Class::View, Form::Text),
        "include|exclude",
        "exclude",
        "groups of uniform outcome in aggregates over several groups",
        |s, v| {
            let both = [("include", Uniform::Include), ("exclude", Uniform::Exclude)];
            parse::choice(v, &both).map(|v| s.view.uniform = v)
        },
    ),
    spec(
        "mixed",
        (Class::View, Form::Switch),
        "",
        "false",
        "show only groups with both successes and failures",
        |s, v| parse::switch(v).map(|v| s.view.mixed = v),
    ),
    spec(
        "rollout",
        (Class::View, Form::Text),
        "ID",
        "",
        "show only this rollout; statistics still count all",
        |s, v| parse::text(v).map(|v| s.view.rollout = Some(v)),
    ),
    spec(
        "threads",
        (Class::View, Form::Number),
        "N",
        "",
        "worker threads; all cores by default",
        |s, v| {
            let n = parse::count(v, 1)?;
            s.load.threads = NonZeroUsize::new(usize::try_from(n).unwrap_or(1));
            Ok(())
        },
    )
    .local(),
    spec(
        "out",
        (Class::View, Form::Text),
        "FILE",
        "",
        "write to this file instead of standard output",
        |s, v| parse::text(v).map(|v| s.view.out = Some(PathBuf::from(v))),
    )
    .local(),
    spec(
        "force",
        (Class::View, Form::Switch),
        "",
        "false",
        "write over an existing file (never over an input)",
        |s, v| parse::switch(v).map(|v| s.view.force = v),
    )
    .local(),
    spec("color", (Class::View, Form::Text), "auto|always|never", "auto", "colours", |s, v| {
        parse::choice(v, &When::CHOICES).map(|v| s.view.color = v)
    })
    .local(),
    spec(
        "ascii",
        (Class::View, Form::Switch),
        "",
        "false",
        "plain ASCII instead of glyphs",
        |s, v| parse::switch(v).map(|v| s.view.ascii = v),
    )
    .local(),
    spec(
        "theme",
        (Class::View, Form::Text),
        "default|paper|light|mono",
        "",
        "colour theme of the screen",
        |s, v| {
            let theme = parse::choice(v, &THEMES.map(|name| (name, name)))?;
            s.view.theme = Some(theme.to_owned());
            Ok(())
        },
    )
    .local(),
    spec(
        "strict",
        (Class::Load, Form::Switch),
        "",
        "false",
        "fail before anything is written when a record was skipped or a file could not be read",
        |s, v| parse::switch(v).map(|v| s.view.strict = v),
    )
    .local(),
    spec(
        "progress",
        (Class::View, Form::Text),
        "auto|always|never",
        "auto",
        "progress on standard error; auto: when it is a terminal",
        |s, v| parse::choice(v, &When::CHOICES).map(|v| s.view.progress = v),
    )
    .local(),
];
