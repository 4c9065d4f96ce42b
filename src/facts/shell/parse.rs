//! A command line as a flat list of commands: words, redirections, place in pipe and chain.
//!
//! The bash grammar of tree-sitter is error-tolerant, so broken input still yields its intact
//! parts. Substitutions are not entered; bodies of loops and branches are read once.

use std::borrow::Cow;

use tree_sitter::Node;

use super::heredoc;
use super::quotes::unquote;

/// How a pipe is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Link {
    /// First, or after `;` or a line end.
    #[default]
    Then,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
}

/// Where output or input goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// `>`, `>>`, `<`, `&>`, …
    pub operator: String,
    /// Number before the operator.
    pub fd: Option<u32>,
    /// File, or the number after `>&`.
    pub target: String,
}

impl Redirect {
    /// The file that standard output goes to, and whether it is appended to.
    #[must_use]
    pub fn output(&self) -> Option<(&str, bool)> {
        let standard = self.fd.is_none_or(|fd| fd == 1);
        let file = !self.target.is_empty() && !self.target.chars().all(|c| c.is_ascii_digit());
        match self.operator.as_str() {
            ">" | ">|" | "&>" if standard && file => Some((&self.target, false)),
            ">>" | "&>>" if standard && file => Some((&self.target, true)),
            _ => None,
        }
    }
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Its words without quotes, the program first. Assignments before it are left out.
    pub words: Vec<String>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
    /// Text that a heredoc or herestring feeds to it.
    pub body: Option<String>,
    /// Number of its pipe.
    pub pipe: usize,
    /// Place in the pipe.
    pub stage: usize,
    /// It runs in a shell of its own: a change of directory does not last.
    pub subshell: bool,
}

/// One pipe: commands joined by `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pipe {
    /// How it is joined to the pipe before.
    pub link: Link,
    /// Number of stages.
    pub stages: usize,
    /// Its exit code says nothing: `!` before it, `&` after it.
    pub detached: bool,
}

/// A whole command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// All commands, in order.
    pub commands: Vec<Command>,
    /// All pipes, in order.
    pub pipes: Vec<Pipe>,
    /// The grammar met something that it could not read.
    pub broken: bool,
}

/// Longer lines are not parsed: nobody types them, and a damaged file must not cost minutes.
const LONGEST: usize = 256 * 1024;
/// Deeper nesting is not followed.
const DEEPEST: usize = 60;

/// Reads one command line.
#[must_use]
pub fn parse(parser: &mut tree_sitter::Parser, command: &str) -> Script {
    let cut = heredoc::cut(command);
    let mut walk = Walk { text: &cut.text, bodies: &cut.bodies, script: Script::default() };
    if cut.text.len() > LONGEST {
        walk.script.broken = true;
    } else if let Some(tree) = parser.parse(&*within_latin(&cut.text), None) {
        walk.script.broken = tree.root_node().has_error();
        walk.statement(tree.root_node(), Link::Then, false, 0);
    }
    if walk.script.broken && walk.script.commands.is_empty() {
        walk.first_line_only();
    }
    walk.script
}

/// The text that the grammar is given: of the same length, letters in place of characters beyond
/// Latin-1. Its scanner asks C's `isdigit` about whatever follows `{`, which is defined for single
/// bytes only: an emoji there makes it read outside of a table.
fn within_latin(text: &str) -> Cow<'_, str> {
    let beyond = |c: char| c > '\u{ff}';
    if !text.contains('{') || !text.contains(beyond) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if beyond(c) {
            plain.extend(std::iter::repeat_n('x', c.len_utf8()));
        } else {
            plain.push(c);
        }
    }
    Cow::Owned(plain)
}

struct Walk<'t> {
    text: &'t str,
    bodies: &'t [String],
    script: Script,
}

impl<'t> Walk<'t> {
    fn source(&self, node: Node<'_>) -> &'t str {
        // A token may end within a character that the grammar saw as several letters.
        let range = node.byte_range();
        let start = self.text.floor_char_boundary(range.start);
        self.text.get(start..self.text.ceil_char_boundary(range.end)).unwrap_or_default()
    }

    fn children(node: Node<'_>) -> Vec<Node<'_>> {
        let mut cursor = node.walk();
        node.children(&mut cursor).collect()
    }

    /// Reads a node that holds statements or is one.
    fn statement(&mut self, node: Node<'_>, link: Link, subshell: bool, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.open_pipe(link);
                self.command(node, Vec::new(), 0, subshell);
            }
            "pipeline" => self.pipeline(node, link, subshell, depth),
            "redirected_statement" => self.redirected(node, link, subshell, depth),
            "list" => self.list(node, link, subshell, depth),
            "negated_command" => {
                let from = self.script.pipes.len();
                self.nested(node, link, subshell, depth);
                self.detach(from);
            }
            "subshell" => self.nested(node, link, true, depth),
            "variable_assignment"
            | "variable_assignments"
            | "comment"
            | "command_substitution"
            | "process_substitution"
            | "heredoc_body"
            | "string"
            | "raw_string" => {}
            _ => self.nested(node, link, subshell, depth),
        }
    }

    fn nested(&mut self, node: Node<'_>, link: Link, subshell: bool, depth: usize) {
        let mut link = link;
        for child in Self::children(node) {
            if child.is_named() {
                let before = self.script.pipes.len();
                self.statement(child, link, subshell, depth + 1);
                if self.script.pipes.len() > before {
                    link = Link::Then;
                }
            } else if child.kind() == "&"
                && let Some(last) = self.script.pipes.len().checked_sub(1)
            {
                self.detach(last);
            }
        }
    }

    fn list(&mut self, node: Node<'_>, link: Link, subshell: bool, depth: usize) {
        let mut link = link;
        for child in Self::children(node) {
            match child.kind() {
                "&&" => link = Link::And,
                "||" => link = Link::Or,
                ";" | "\n" => link = Link::Then,
                _ if child.is_named() => self.statement(child, link, subshell, depth + 1),
                _ => {}
            }
        }
    }

    fn redirected(&mut self, node: Node<'_>, link: Link, subshell: bool, depth: usize) {
        let mut redirects = Vec::new();
        let mut body = None;
        for child in Self::children(node) {
            match child.kind() {
                "file_redirect" => redirects.extend(self.redirect(child)),
                "herestring_redirect" => body = Some(self.herestring(child)),
                _ => {}
            }
        }
        let from = self.script.commands.len();
        let inner = node.child_by_field_name("body");
        if let Some(inner) = inner {
            self.statement(inner, link, subshell, depth + 1);
        } else {
            // `> file` alone empties the file.
            self.open_pipe(link);
            let pipe = self.script.pipes.len().saturating_sub(1);
            self.script.commands.push(Command { pipe, subshell, ..Command::default() });
        }
        let bodies = self.bodies;
        if let Some(last) = self.script.commands.get_mut(from..).and_then(<[_]>::last_mut) {
            take_bodies(&mut redirects, bodies, &mut last.body);
            last.body = last.body.take().or(body);
            last.redirects.append(&mut redirects);
        }
    }

    /// A pipe. The grammar hangs `a && b 2>&1 | c` up as (a && b) | c, where a shell reads
    /// a && (b | c): whatever the first part ends in is the first stage.
    fn pipeline(&mut self, node: Node<'_>, link: Link, subshell: bool, depth: usize) {
        let mut stages =
            Self::children(node).into_iter().filter(|c| c.is_named() && c.kind() != "comment");
        let before = self.script.pipes.len();
        if let Some(first) = stages.next() {
            self.statement(first, link, subshell, depth + 1);
        }
        if self.script.pipes.len() == before {
            self.open_pipe(link);
        }
        for child in stages {
            let stage = self.script.pipes.last().map_or(1, |p| p.stages);
            self.stage(child, stage, Vec::new(), subshell, depth + 1);
            if let Some(pipe) = self.script.pipes.last_mut() {
                pipe.stages = stage + 1;
            }
        }
    }

    /// One stage of a pipe. A stage that is itself a block is read as one stage: its commands share
    /// the place in the pipe.
    fn stage(
        &mut self,
        node: Node<'_>,
        stage: usize,
        redirects: Vec<Redirect>,
        subshell: bool,
        depth: usize,
    ) {
        if depth > DEEPEST {
            return;
        }
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.command(node, redirects, stage, subshell);
            }
            "redirected_statement" => {
                let mut own = redirects;
                let mut body = None;
                for child in Self::children(node) {
                    match child.kind() {
                        "file_redirect" => own.extend(self.redirect(child)),
                        "herestring_redirect" => body = Some(self.herestring(child)),
                        _ => {}
                    }
                }
                if let Some(inner) = node.child_by_field_name("body") {
                    self.stage(inner, stage, own, subshell, depth + 1);
                    if let Some(last) = self.script.commands.last_mut() {
                        last.body = last.body.take().or(body);
                    }
                }
            }
            _ => {
                for child in Self::children(node).into_iter().filter(Node::is_named) {
                    if !matches!(
                        child.kind(),
                        "word"
                            | "string"
                            | "raw_string"
                            | "command_substitution"
                            | "variable_name"
                            | "concatenation"
                    ) {
                        self.stage(child, stage, Vec::new(), true, depth + 1);
                    }
                }
            }
        }
    }

    fn open_pipe(&mut self, link: Link) {
        self.script.pipes.push(Pipe { link, stages: 1, detached: false });
    }

    fn detach(&mut self, from: usize) {
        for pipe in self.script.pipes.iter_mut().skip(from) {
            pipe.detached = true;
        }
    }

    fn command(&mut self, node: Node<'_>, redirects: Vec<Redirect>, stage: usize, subshell: bool) {
        let mut command = Command {
            redirects,
            pipe: self.script.pipes.len().saturating_sub(1),
            stage,
            subshell: subshell || stage > 0,
            ..Command::default()
        };
        for child in Self::children(node) {
            match child.kind() {
                "variable_assignment" if node.kind() == "command" => {}
                "file_redirect" => command.redirects.extend(self.redirect(child)),
                "herestring_redirect" => command.body = Some(self.herestring(child)),
                "heredoc_redirect" | "comment" => {}
                _ => command.words.push(unquote(self.source(child))),
            }
        }
        take_bodies(&mut command.redirects, self.bodies, &mut command.body);
        self.script.commands.push(command);
    }

    fn redirect(&self, node: Node<'_>) -> Option<Redirect> {
        let fd = node.child_by_field_name("descriptor").and_then(|n| self.source(n).parse().ok());
        let operator = Self::children(node).into_iter().find(|c| !c.is_named())?;
        let target = node.child_by_field_name("destination").map(|n| unquote(self.source(n)));
        Some(Redirect {
            operator: operator.kind().to_owned(),
            fd,
            target: target.unwrap_or_default(),
        })
    }

    fn herestring(&self, node: Node<'_>) -> String {
        let text = self.source(node);
        unquote(text.trim_start_matches('<').trim_start())
    }

    /// Nothing could be read: the first line's words, so that the program at least is known.
    fn first_line_only(&mut self) {
        let line = self.text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#'));
        let words: Vec<String> =
            line.map(|l| l.split_whitespace().take(64).map(unquote).collect()).unwrap_or_default();
        if !words.is_empty() && !words.iter().all(|w| crate::profile::is_assignment(w)) {
            self.open_pipe(Link::Then);
            self.script.commands.push(Command { words, ..Command::default() });
        }
    }
}

/// Turns place holders of heredoc bodies into the command's input.
fn take_bodies(redirects: &mut Vec<Redirect>, bodies: &[String], body: &mut Option<String>) {
    redirects.retain(|redirect| match heredoc::body_number(&redirect.target) {
        Some(n) => {
            *body = bodies.get(n).cloned();
            false
        }
        None => true,
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    fn read(text: &str) -> Script {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
        parse(&mut parser, text)
    }

    fn words(text: &str) -> Vec<String> {
        read(text).commands.iter().map(|c| c.words.join(" ")).collect()
    }

    #[test]
    fn characters_of_any_size_pass_the_grammar() {
        for c in ['\u{100}', '\u{3042}', '\u{fffd}', '\u{1f389}', '\u{e0100}', '\u{10ffff}'] {
            // Each of these once made the scanner read far outside of its table.
            for text in [format!("echo a{{{c}"), format!("echo {{{c}..{c}}}"), format!("{{{c}")] {
                read(&text);
            }
            assert_eq!(
                words(&format!("echo {c}{c} && cat 'x{c}{{'")),
                [format!("echo {c}{c}"), format!("cat x{c}{{")]
            );
        }
        assert_eq!(within_latin("a{é").len(), 4);
        assert_eq!(within_latin("{あ"), "{xxx");
    }

    #[test]
    fn chains_and_pipes() {
        let script = read("cd /a && FOO=1 pytest -x 2>&1 | tail -5; echo 'a b' || true");
        let words: Vec<String> = script.commands.iter().map(|c| c.words.join(" ")).collect();
        assert_eq!(words, ["cd /a", "pytest -x", "tail -5", "echo a b", "true"]);
        let links: Vec<Link> = script.pipes.iter().map(|p| p.link).collect();
        assert_eq!(links, [Link::Then, Link::And, Link::Then, Link::Or]);
        assert_eq!(script.pipes.iter().map(|p| p.stages).collect::<Vec<_>>(), [1, 2, 1, 1]);
        assert!(!script.broken);
    }

    #[test]
    fn redirections_in_the_middle_do_not_move_commands() {
        let script = read("cd /a && pytest 2>&1 | grep x 2>&1 | tail -3 > f && ls");
        let places: Vec<(String, usize, usize)> =
            script.commands.iter().map(|c| (c.words.join(" "), c.pipe, c.stage)).collect();
        let expected =
            [("cd /a", 0, 0), ("pytest", 1, 0), ("grep x", 1, 1), ("tail -3", 1, 2), ("ls", 2, 0)];
        assert_eq!(places, expected.map(|(w, p, s)| (w.to_owned(), p, s)));
        let links: Vec<Link> = script.pipes.iter().map(|p| p.link).collect();
        assert_eq!(links, [Link::Then, Link::And, Link::And]);
        let written = script
            .commands
            .iter()
            .filter_map(|c| c.redirects.iter().find_map(Redirect::output))
            .collect::<Vec<_>>();
        assert_eq!(written, [("f", false)]);
    }

    #[test]
    fn blocks_are_read_once_and_substitutions_never() {
        assert_eq!(words("for f in *.py; do grep x $f; done"), ["grep x $f"]);
        assert_eq!(words("if [ -f x ]; then rm x; else ls; fi"), ["[ -f x ]", "rm x", "ls"]);
        assert_eq!(words("echo $(rm -rf y) `ls`"), ["echo $(rm -rf y) `ls`"]);
        assert_eq!(words("A=$(rm x)"), Vec::<String>::new());
        assert_eq!(words("(cd y; ls)"), ["cd y", "ls"]);
    }

    #[test]
    fn redirections_and_bodies() {
        let script = read("cat > \"b c.py\" <<'EOF'\nx\nEOF\ncat a 2>/dev/null >> out");
        let [first, second] = script.commands.as_slice() else { panic!("{script:?}") };
        assert_eq!(first.body.as_deref(), Some("x\n"));
        assert_eq!(first.redirects.iter().find_map(Redirect::output), Some(("b c.py", false)));
        assert_eq!(second.redirects.iter().find_map(Redirect::output), Some(("out", true)));
        let script = read("cat <<EOF > z.py && python z.py\nbody\nEOF");
        assert_eq!(script.commands.len(), 2);
        assert_eq!(script.commands.first().unwrap().body.as_deref(), Some("body\n"));
    }

    #[test]
    fn broken_input_yields_its_intact_parts() {
        assert_eq!(words("cat a.py && grep 'x"), ["cat a.py", "grep"]);
        assert!(!words("sed -i 's/a/b' 'x").is_empty());
    }
}
