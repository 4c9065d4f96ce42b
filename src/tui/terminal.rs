//! The terminal: taken over on start, given back on every way out.
//!
//! Nothing is asked of the terminal (no queries); it is written to only inside synchronized updates.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use base64::Engine as _;
use crossbeam_channel::Sender;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::update::Msg;

/// Largest text that is put on the clipboard: terminals drop longer sequences without a word.
const CLIPBOARD: usize = 74_000;

/// Whether the terminal is taken over now: giving it back twice does no harm, but writes.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the next continue signal ends our own suspension, which paints everything itself.
static SUSPENDED: AtomicBool = AtomicBool::new(false);

/// What the run loop asks of a screen. The tests' screen does nothing but draw.
pub trait Screen {
    /// Where it is drawn.
    type Backend: Backend;
    /// The drawing surface.
    fn terminal(&mut self) -> &mut Terminal<Self::Backend>;
    /// Called before each draw.
    fn before_draw(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Called after each draw.
    fn after_draw(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Puts a text on the clipboard; what to tell the person.
    fn copy(&mut self, text: &str, what: &str) -> io::Result<String>;
    /// Shows a text in a program of the person's choice, and comes back; what to tell them.
    fn show(&mut self, text: &str) -> io::Result<String>;
    /// Captures the mouse, or lets it go.
    fn mouse(&mut self, _on: bool) -> io::Result<()> {
        Ok(())
    }
    /// Hands the terminal to the shell and comes back when continued.
    fn suspend(&mut self) -> io::Result<()>;
    /// Forgets what the terminal shows: the next draw paints everything.
    fn repaint(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The real terminal.
pub struct Tty {
    terminal: Terminal<CrosstermBackend<io::Stdout>>,
    mouse: bool,
}

impl Tty {
    /// Takes the terminal over.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        take_over(mouse)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        match terminal {
            Ok(terminal) => Ok(Self { terminal, mouse }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        give_back();
    }
}

impl Screen for Tty {
    type Backend = CrosstermBackend<io::Stdout>;

    fn terminal(&mut self) -> &mut Terminal<Self::Backend> {
        &mut self.terminal
    }

    fn before_draw(&mut self) -> io::Result<()> {
        queue!(io::stdout(), BeginSynchronizedUpdate)
    }

    fn after_draw(&mut self) -> io::Result<()> {
        execute!(io::stdout(), EndSynchronizedUpdate)
    }

    fn copy(&mut self, text: &str, what: &str) -> io::Result<String> {
        let tmux = std::env::var_os("TMUX").is_some();
        let Some(sequence) = osc52(text, tmux, in_screen()) else {
            return Ok(format!(
                "{} bytes are too many for the terminal's clipboard (limit {CLIPBOARD})",
                text.len()
            ));
        };
        let mut out = io::stdout();
        out.write_all(sequence.as_bytes())?;
        out.flush()?;
        Ok(copied(what, tmux))
    }

    fn show(&mut self, text: &str) -> io::Result<String> {
        super::outside::show(text, give_back, self.mouse, take_over).and_then(|said| {
            self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
            Ok(said)
        })
    }

    fn mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        let mut out = io::stdout();
        if on { execute!(out, EnableMouseCapture) } else { execute!(out, DisableMouseCapture) }
    }

    fn suspend(&mut self) -> io::Result<()> {
        give_back();
        SUSPENDED.store(true, Ordering::SeqCst);
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        self.repaint()
    }

    fn repaint(&mut self) -> io::Result<()> {
        // After a stop from outside the shell may have changed the mode, too: take all of it again.
        give_back();
        take_over(self.mouse)?;
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(())
    }
}

fn in_screen() -> bool {
    std::env::var("TERM").is_ok_and(|t| t.starts_with("screen"))
        && std::env::var_os("STY").is_some()
}

/// What is said of it. Whether tmux lets it through is its own setting, and it does not answer.
fn copied(what: &str, tmux: bool) -> String {
    if tmux {
        // The line that is shown has to hold on a narrow screen, too.
        let what = crate::export::text::cut(what, 24);
        format!("copied: {what} (tmux: set -g set-clipboard on)")
    } else {
        format!("copied: {what}")
    }
}

/// The sequence that sets the clipboard; `None` where it is too long. In a multiplexer it is there twice:
/// as it is, for one that sets the clipboard itself (tmux: `set-clipboard on`), and wrapped, for one
/// that hands it on to the terminal (tmux: `allow-passthrough on`). Either alone is enough.
fn osc52(text: &str, tmux: bool, screen: bool) -> Option<String> {
    let body = base64::engine::general_purpose::STANDARD.encode(text);
    if body.len() > CLIPBOARD {
        return None;
    }
    let mut out = format!("\u{1b}]52;c;{body}\u{7}");
    if tmux {
        let wrapped = format!("\u{1b}Ptmux;\u{1b}{out}\u{1b}\\");
        out.push_str(&wrapped);
    } else if screen {
        // screen takes short strings only: each piece in a wrapping of its own.
        let plain = out.clone();
        let mut piece = String::new();
        for c in plain.chars() {
            piece.push(c);
            if piece.len() >= 700 {
                let _ = write!(out, "\u{1b}P{piece}\u{1b}\\");
                piece.clear();
            }
        }
        let _ = write!(out, "\u{1b}P{piece}\u{1b}\\");
    }
    Some(out)
}

fn take_over(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    let done = execute!(out, EnterAlternateScreen, EnableBracketedPaste, Hide)
        .and_then(|()| if mouse { execute!(out, EnableMouseCapture) } else { Ok(()) });
    if done.is_err() {
        give_back();
    }
    done
}

/// Gives the terminal back. Errors are of no use here: there may be no terminal any more.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
}

/// Whether a screen can be drawn here at all.
#[must_use]
pub fn can_draw() -> bool {
    io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|t| !t.is_empty() && t != "dumb")
}

/// A panic of the screen's own thread gives the terminal back before it is reported. One of a worker
/// is caught there and told on the screen: nothing is written over it.
pub fn guard_panics() {
    let screen: ThreadId = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == screen {
            give_back();
            before(info);
        } else if !TAKEN.load(Ordering::SeqCst) {
            before(info);
        }
    }));
}

/// Sends signals as messages.
pub fn listen_signals(outbox: Sender<Msg>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT])?;
    std::thread::Builder::new()
        .name("credscope-signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                let msg = match signal {
                    SIGTSTP => Msg::Stop,
                    // Taking over twice would let keys through in between.
                    SIGCONT if SUSPENDED.swap(false, Ordering::SeqCst) => continue,
                    SIGCONT => Msg::Repaint,
                    other => Msg::Signal(other),
                };
                if outbox.send(msg).is_err() {
                    return;
                }
            }
        })
        .map(drop)
}

/// Sends keys and sizes as messages. Pasted text fires no key.
pub fn listen_keys(outbox: Sender<Msg>) -> io::Result<()> {
    // A new size is heard of from the first look on: that must not be later than the size is asked for.
    if let Err(error) = crossterm::event::poll(std::time::Duration::ZERO)
        && error.kind() != io::ErrorKind::Interrupted
    {
        return outbox.send(Msg::InputClosed).map_err(io::Error::other);
    }
    std::thread::Builder::new()
        .name("credscope-keys".to_owned())
        .spawn(move || {
            loop {
                super::outside::wait_while_away();
                // Not a blocking read: a pager that has the terminal must get all of its keys.
                match crossterm::event::poll(super::outside::LISTEN) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => {
                        let _ = outbox.send(Msg::InputClosed);
                        return;
                    }
                }
                let msg = match crossterm::event::read() {
                    Ok(Event::Key(key)) => Msg::Key(key),
                    Ok(Event::Resize(width, height)) => Msg::Resize(width, height),
                    Ok(Event::Mouse(event)) => Msg::Mouse(event),
                    Ok(Event::Paste(text)) => Msg::Paste(text),
                    Ok(_) => continue,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => Msg::InputClosed,
                };
                let last = matches!(msg, Msg::InputClosed);
                if outbox.send(msg).is_err() || last {
                    return;
                }
            }
        })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clipboard_is_wrapped_for_multiplexers_and_limited() {
        assert_eq!(osc52("hi", false, false).unwrap(), "\u{1b}]52;c;aGk=\u{7}");
        // Both forms: tmux takes the first with `set-clipboard on`, the second with `allow-passthrough on`.
        assert_eq!(
            osc52("hi", true, false).unwrap(),
            "\u{1b}]52;c;aGk=\u{7}\u{1b}Ptmux;\u{1b}\u{1b}]52;c;aGk=\u{7}\u{1b}\\"
        );
        assert_eq!(
            osc52("hi", false, true).unwrap(),
            "\u{1b}]52;c;aGk=\u{7}\u{1b}P\u{1b}]52;c;aGk=\u{7}\u{1b}\\"
        );
        let long = osc52(&"x".repeat(2000), false, true).unwrap();
        assert!(long.starts_with("\u{1b}]52;c;eHh4") && long.matches("\u{1b}P").count() > 2);
        assert_eq!(copied("-0.25", false), "copied: -0.25");
        assert_eq!(copied("-0.25", true), "copied: -0.25 (tmux: set -g set-clipboard on)");
        assert_eq!(osc52(&"x".repeat(80_000), false, false), None);
    }
}
