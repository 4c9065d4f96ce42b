//! Whether derivations are what they say: tree, value and printed expression are one number.

use credscope::analysis::Analysis;
use credscope::credit::Node;

/// Every node of a derivation: value, tree and printed expression are one number.
fn check_node(node: &Node) {
    assert_eq!(node.eval().to_bits(), node.value.to_bits(), "{}", node.name);
    let printed = super::eval::eval(&node.expression());
    assert_eq!(printed.to_bits(), node.value.to_bits(), "{}: {}", node.name, node.expression());
    for child in node.children() {
        check_node(&child);
    }
}

/// Every step of every column of an analysis.
pub fn check_derivations(analysis: &Analysis) {
    for (spec, column) in &analysis.columns {
        for step in 0..analysis.group.len() {
            let explanation = analysis.explain(step, &spec.name).unwrap();
            match column.get(step) {
                None => assert!(explanation.node.is_none() && explanation.value.is_err()),
                Some(value) => {
                    let node = explanation.node.unwrap();
                    assert_eq!(node.value.to_bits(), value.to_bits(), "{} step {step}", spec.name);
                    check_node(&node);
                    let sources = node.sources();
                    let whole_state = ["grpo", "dr-grpo", "grpo-step", "rtmc", "gigpo", "crbc"];
                    for member in &explanation.members {
                        if !whole_state.contains(&spec.name.as_str())
                            || !spec.params.entries().is_empty()
                        {
                            break;
                        }
                        let id = &analysis.group.rollouts[member.rollout].id;
                        assert!(
                            sources.iter().any(
                                |s| s == id || s.rsplit_once(':').is_some_and(|(r, _)| r == id)
                            ),
                            "{} step {step}: no leaf of {id}",
                            spec.name
                        );
                    }
                }
            }
        }
    }
}
