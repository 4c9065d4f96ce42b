//! What can be read of a file in which quotes or brackets are missing or too many.
//!
//! `begins` learns how the lines begin on which elements stand, `order` says whether values may stand where
//! they stand, `fault` finds where bytes stop being JSON by their structure, `list` goes on behind a torn
//! element of a list that is the file, `document` behind one within a document, among the bytes that `held`
//! searches. A wrong place could be read as something that is not there: each of them goes on only where all
//! that follows is as it should be.

pub(super) mod begins;
pub(super) mod document;
pub(super) mod fault;
pub(super) mod held;
pub mod list;
pub(super) mod order;
