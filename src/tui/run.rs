//! The run loop: messages in, effects out, a draw when something changed. Generic over the screen, so
//! that a test drives exactly what a person drives.

use std::io;

use crossbeam_channel::Receiver;
use ratatui::backend::Backend;

use super::model::Model;
use super::panes::view;
use super::terminal::Screen;
use super::update::{Effect, Msg, begin, exit_code, update};
use super::worker::Workers;

/// How long a failed draw waits for the signal that explains it.
const GONE: std::time::Duration = std::time::Duration::from_millis(200);

/// Draws once, inside a synchronized update.
fn picture<S: Screen>(screen: &mut S, model: &Model) -> io::Result<()>
where
    <S::Backend as Backend>::Error: Send + Sync + 'static,
{
    screen.before_draw()?;
    screen.terminal().draw(|frame| view(model, frame)).map_err(io::Error::other)?;
    screen.after_draw()
}

/// Runs until the person (or a signal) leaves; the exit code.
pub fn drive<S: Screen>(
    screen: &mut S,
    model: &mut Model,
    workers: &Workers,
    inbox: &Receiver<Msg>,
) -> io::Result<u8>
where
    <S::Backend as Backend>::Error: Send + Sync + 'static,
{
    let size = screen.terminal().size().map_err(io::Error::other)?;
    let mut pending = begin(model);
    pending.extend(update(model, Msg::Resize(size.width, size.height)));
    loop {
        for effect in std::mem::take(&mut pending) {
            match workers.take(effect) {
                Some(Effect::Quit(code)) => return Ok(code),
                Some(Effect::Copy(text, what)) => {
                    let said = screen.copy(&text, &what)?;
                    pending.extend(update(model, Msg::Say(said)));
                }
                Some(Effect::Show(text)) => {
                    let said = screen.show(&text)?;
                    let size = screen.terminal().size().map_err(io::Error::other)?;
                    pending.extend(update(model, Msg::Resize(size.width, size.height)));
                    pending.extend(update(model, Msg::Say(said)));
                }
                Some(Effect::Suspend) => {
                    screen.suspend()?;
                    let size = screen.terminal().size().map_err(io::Error::other)?;
                    pending.extend(update(model, Msg::Resize(size.width, size.height)));
                }
                Some(Effect::Mouse(on)) => screen.mouse(on)?,
                Some(Effect::Repaint) => screen.repaint()?,
                // Work, which the workers took.
                _ => {}
            }
        }
        if !pending.is_empty() {
            continue;
        }
        if let Err(error) = picture(screen, model) {
            // A terminal that is gone says so by a signal, too: that decides the exit code.
            let signal = inbox.recv_timeout(GONE).ok();
            return match signal {
                Some(Msg::Signal(n)) => Ok(exit_code(n)),
                _ => Err(error),
            };
        }
        let Ok(msg) = inbox.recv() else {
            return Ok(0);
        };
        pending.extend(update(model, msg));
        // Everything that waits is taken before the next draw: typing ahead never draws twice.
        while let Ok(msg) = inbox.try_recv() {
            pending.extend(update(model, msg));
        }
    }
}
