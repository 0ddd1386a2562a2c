//! The messages to the install monitor, as `provost status` shows them.

use provost_steplog::terminal::escape;

use super::messages::{Delivery, StatusMessage};

/// A line for each message, and why one isn't delivered. Empty where there are none.
pub fn describe(messages: &[StatusMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        let result = match message.delivery {
            Delivery::Read => format!("read by the install monitor at {}", message.at),
            Delivery::Superseded => "not sent: replaced by a newer one".to_owned(),
            Delivery::Waiting => format!("not sent yet, tries: {}", message.tries),
        };
        text += &format!("  {:<24} {result}\n", escape(&message.words));
        let why = [("error", &message.error), ("hint", &message.hint)];
        for (name, value) in why.into_iter().filter(|_| message.is_waiting()) {
            text +=
                &value.as_ref().map_or(String::new(), |v| format!("    {name:<8} {}\n", escape(v)));
        }
    }
    if text.is_empty() { text } else { format!("\nsent to xCAT:\n{text}") }
}
