//! provostd over HTTP, as a process and as a library.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod admins;
mod beats;
mod durability;
mod files;
mod floods;
mod guard;
mod health;
mod listeners;
mod logs;
mod process;
mod quotas;
mod reference;
mod server;
mod silence;
mod web;
mod web_actions;
mod webhooks;
mod xcat;
