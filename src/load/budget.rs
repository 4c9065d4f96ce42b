//! Bounds how many bytes of records are in flight between the cutter and the workers.

use std::sync::{Condvar, Mutex, PoisonError};

/// A number of bytes that is handed out and given back.
#[derive(Debug)]
pub struct Budget {
    used: Mutex<usize>,
    freed: Condvar,
    cap: usize,
}

impl Budget {
    /// A budget of `cap` bytes. A single larger request is granted when nothing else is in flight.
    #[must_use]
    pub const fn new(cap: usize) -> Self {
        Self { used: Mutex::new(0), freed: Condvar::new(), cap }
    }

    /// Waits until `bytes` are free and takes them; they come back when the result is dropped, also
    /// when a worker fails.
    pub fn take(&self, bytes: usize) -> Taken<'_> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while *used > 0 && *used + bytes > self.cap {
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
        *used += bytes;
        Taken { budget: self, bytes }
    }
}

/// Bytes that are in flight.
#[derive(Debug)]
pub struct Taken<'a> {
    budget: &'a Budget,
    bytes: usize,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut used = self.budget.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(self.bytes);
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_over_the_cap_passes_alone_and_others_wait() {
        let budget = Budget::new(10);
        drop(budget.take(100));
        let held = budget.take(8);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| drop(budget.take(5)));
            drop(held);
            waits.join().unwrap();
        });
        assert_eq!(*budget.used.lock().unwrap(), 0);
    }
}
