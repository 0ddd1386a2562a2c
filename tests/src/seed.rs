//! Chance that can be had again.

/// The name of the variable that holds a seed from an earlier test's output.
const VARIABLE: &str = "PROVOST_TEST_SEED";

/// The seed of this process: a new one, unless the environment has one. It is printed, and a test
/// that fails shows it.
pub fn seed() -> u64 {
    let given = std::env::var(VARIABLE).ok();
    let seed = given.map_or_else(|| fastrand::u64(..), |text| text.parse().unwrap());
    eprintln!("{VARIABLE}={seed} has the same again");
    seed
}
