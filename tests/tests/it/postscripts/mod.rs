//! The postscripts that come with the product, each run for real.

mod boot_and_kernel;
mod boot_loader;
mod cables;
mod debian;
mod disk;
mod files;
mod firewall;
mod firmware;
mod headers;
mod host;
mod kdump;
mod layouts;
mod ldap;
mod network;
mod packages;
mod prefix;
mod repositories;
mod resolver;
pub(crate) mod root;
mod root_kinds;
mod routes;
mod runner;
mod services;
