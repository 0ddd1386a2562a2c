/// Why a file can't be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) what: String,
}
