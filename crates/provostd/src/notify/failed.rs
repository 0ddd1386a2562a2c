use std::time::Duration;

/// Why a message wasn't delivered.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) why: String,
    /// Whether it is the message's fault.
    pub(super) is_of_message: bool,
    /// How long the receiver asks to wait.
    pub(super) wait: Option<Duration>,
}

impl Failed {
    pub(super) fn of_receiver(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_of_message: false, wait: None }
    }

    pub(super) fn of_message(why: impl Into<String>) -> Self {
        Self { is_of_message: true, ..Self::of_receiver(why) }
    }
}
