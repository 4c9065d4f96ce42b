//! R2E-Gym trajectories: JSON lines with `trajectory_steps`, `exit_reason`, `output_patch`.
//!
//! An action is always re-serialised XML and all parameters are texts, so nothing in them is read as
//! JSON. There is no reward per step and no error mark; exit codes stand in the observation's frame.

use super::frames;
use super::json::{self, Object};
use super::native;
use super::reader::{Context, Layout, Part, Reader, RecordError, Sniff, record_object};
use super::shape::Shape;
use crate::rollout::raw::{Ending, RawArgs, RawKind, RawRollout, RawStep};

/// The reader.
#[derive(Debug)]
pub struct R2eGym;

impl Reader for R2eGym {
    fn id(&self) -> &'static str {
        "r2e-gym"
    }

    fn title(&self) -> &'static str {
        "R2E-Gym trajectories (JSON lines)"
    }

    fn source(&self) -> &'static str {
        "R2E-Gym/R2E-Gym@69bc953 src/r2egym/agenthub/trajectory/trajectory.py"
    }

    fn sniff(&self, shape: &Shape<'_>) -> Sniff {
        let known = shape.any(|r| {
            r.list("trajectory_steps")
                && (r.has_any(&["exit_reason", "output_patch"]) || r.keys().count() == 1)
        });
        if known { Sniff::Yes } else { Sniff::No }
    }

    fn layout(&self, shape: &Shape<'_>) -> Layout {
        shape.layout()
    }

    fn parse(&self, text: &str, _: &Context<'_>) -> Result<Vec<Part>, RecordError> {
        let record = record_object(text)?;
        let Some(steps) = record.some("trajectory_steps").filter(|s| json::is_array(s)) else {
            return Err(RecordError::missing("trajectory_steps", "a list of steps was expected"));
        };
        let mut raw = RawRollout {
            reward: record.number("reward")?,
            outcome_field: Some("reward".to_owned()),
            run: record.id("exp_name")?,
            ending: ending(&record)?,
            prompt: record.string("problem_statement")?.map(Into::into),
            ..RawRollout::default()
        };
        if let Some(agent) = record.object("agent_args")? {
            raw.policy = agent.id("llm_name")?;
        }
        let image = record.id("docker_image")?;
        if let Some(ds) = record.object("ds")? {
            raw.task = ds.id("instance_id")?;
        }
        for (name, value) in [("docker_image", &image), ("exp_name", &raw.run)] {
            if let Some(value) = value {
                raw.other_keys.push((name.to_owned(), value.clone()));
            }
        }
        native::note_repeated(&record, &mut raw);
        // The whole image name: a shortened tag could make two commits one task.
        raw.task = raw.task.or(image);
        for (at, step) in json::elements(steps)?.into_iter().enumerate() {
            if !json::is_object(step) {
                let reason = "each step must be an object";
                return Err(RecordError::unexpected(None, reason).in_list("trajectory_steps", at));
            }
            raw.steps.push(read_step(&Object::of(step)?, at as u32)?);
        }
        Ok(vec![Part::whole(raw)])
    }
}

fn ending(record: &Object<'_>) -> Result<Ending, RecordError> {
    Ok(match record.string("exit_reason")?.as_deref() {
        None | Some("agent" | "") => Ending::Clean,
        Some(word) => super::ending::of_word(word),
    })
}

fn read_step(step: &Object<'_>, turn: u32) -> Result<RawStep, RecordError> {
    let action = step.string("action")?.unwrap_or_default();
    let mut thought = step.string("thought")?.unwrap_or_default().into_owned();
    let (tool, args) = match frames::xml_call(&action) {
        Some(call) => {
            if !call.before.is_empty() {
                if !thought.is_empty() {
                    thought.push('\n');
                }
                thought.push_str(&call.before);
            }
            (call.tool, call.args)
        }
        None if action.trim().is_empty() => (None, RawArgs::default()),
        None => (None, RawArgs::Unparsable(action.into_owned())),
    };
    let observation = step.string("observation")?.map(String::from);
    let (exit_code, stopped) = observation.as_deref().map_or((None, None), frames::r2e_exit);
    Ok(RawStep {
        kind: RawKind::Call,
        thought,
        tool,
        args,
        observation,
        exit_code,
        stopped,
        turn,
        // -1 stands for an unknown count.
        tokens: step.whole("token_usage_completion")?.map(|n| (0, n)),
        ..RawStep::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::StepResult;
    use crate::rollout::raw::RawNumber;

    fn read(text: &str) -> RawRollout {
        R2eGym.parse(text, &Context::default()).unwrap().remove(0).rollout.unwrap()
    }

    #[test]
    fn a_record() {
        let raw = read(
            r#"{"trajectory_steps":[
              {"thought":"t","action":"<function=execute_bash>\n  <parameter=cmd> ls </parameter>\n</function>","observation":"Exit code: -1\nx","token_usage_completion":-1},
              {"thought":"u","action":"<function=>\n</function>","observation":"go on","token_usage_completion":7}],
              "docker_image":"n/datalad_final:05ea1b","exp_name":"e","agent_args":{"llm_name":"q"},"ds":null,
              "exit_reason":"max_step_limit","output_patch":"","reward":null}"#,
        );
        assert_eq!(raw.task.as_deref(), Some("n/datalad_final:05ea1b"));
        assert_eq!((raw.run.as_deref(), raw.id.as_deref()), (Some("e"), None));
        assert_eq!(raw.policy.as_deref(), Some("q"));
        assert_eq!(raw.ending, Ending::Limit("max_step_limit".into()));
        assert_eq!(raw.reward, RawNumber::Bad("null".into()));
        let [run, empty] = &raw.steps[..] else { panic!("two steps") };
        assert_eq!(run.args, json::args_text(r#"{"cmd":"ls"}"#));
        assert_eq!((run.exit_code, run.stopped), (Some(-1), Some(StepResult::Timeout)));
        assert_eq!((run.tokens, empty.tokens), (None, Some((0, 7))));
        assert_eq!((empty.kind, &empty.tool), (RawKind::Call, &None));
    }

    #[test]
    fn endings() {
        let end = |reason: &str| {
            read(&format!(r#"{{"trajectory_steps":[],"exit_reason":"{reason}"}}"#)).ending
        };
        assert_eq!(end("agent"), Ending::Clean);
        for limit in ["agent_max_step_limit", "abs_step_limit", "token_limit", "traj_time_limit"] {
            assert_eq!(end(limit), Ending::Limit(limit.into()));
        }
        assert_eq!(end("llm_query_error"), Ending::Infra("llm_query_error".into()));
    }
}
