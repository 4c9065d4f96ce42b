//! A text in a program of the person's choice, which has the terminal to itself meanwhile.

use std::io::{self, Write};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long one look for a key takes.
pub(super) const LISTEN: Duration = Duration::from_millis(100);

/// Whether another program has the terminal, and whether the listener for keys has stepped back.
struct Gate {
    state: Mutex<(bool, bool)>,
    bell: Condvar,
}

static GATE: Gate = Gate { state: Mutex::new((false, false)), bell: Condvar::new() };

/// Called by the listener for keys: stays here while another program has the terminal.
pub(super) fn wait_while_away() {
    let mut state = GATE.state.lock().unwrap_or_else(PoisonError::into_inner);
    while state.0 {
        state.1 = true;
        GATE.bell.notify_all();
        state = GATE.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.1 = false;
}

fn away(yes: bool) {
    let mut state = GATE.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.0 = yes;
    GATE.bell.notify_all();
    // A listener that is gone, or was never there, does not answer: a few looks are enough.
    for _ in 0..20 {
        if !yes || state.1 {
            return;
        }
        let waited = GATE.bell.wait_timeout(state, LISTEN);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// The program: `$PAGER`, else `$EDITOR`, else `less`; with its arguments.
fn program(pager: Option<String>, editor: Option<String>) -> Vec<String> {
    let named = [pager, editor].into_iter().flatten().find(|p| !p.trim().is_empty());
    named.unwrap_or_else(|| "less".to_owned()).split_whitespace().map(ToOwned::to_owned).collect()
}

/// Writes the text to a temporary file and runs the program on it, between `leave` and `enter`.
pub(super) fn show(
    text: &str,
    leave: impl FnOnce(),
    mouse: bool,
    enter: impl FnOnce(bool) -> io::Result<()>,
) -> io::Result<String> {
    let mut file = match tempfile::Builder::new().prefix("credscope-").suffix(".txt").tempfile() {
        Ok(file) => file,
        Err(error) => return Ok(format!("no temporary file: {error}")),
    };
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.flush()) {
        return Ok(format!("no temporary file: {error}"));
    }
    let words = program(std::env::var("PAGER").ok(), std::env::var("EDITOR").ok());
    let Some((name, arguments)) = words.split_first() else {
        return Ok("neither $PAGER nor $EDITOR names a program".to_owned());
    };
    away(true);
    leave();
    let status = Command::new(name).args(arguments).arg(file.path()).status();
    let entered = enter(mouse);
    away(false);
    entered?;
    Ok(match status {
        Ok(status) if status.success() => format!("back from {name}"),
        Ok(status) => format!("{name} ended with {status}"),
        Err(error) => format!("{name} cannot be run: {error}; set PAGER or EDITOR"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_goes_before_the_editor() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(program(some("less -S"), some("vi")), ["less", "-S"]);
        assert_eq!(program(some(" "), some("vi")), ["vi"]);
        assert_eq!(program(None, None), ["less"]);
    }
}
