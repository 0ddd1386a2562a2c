//! How much a test of chance repeats.

/// The name of the variable that `cargo xtask test --long` sets to 1; a lower number is the share of `long`.
const VARIABLE: &str = "PROVOST_TEST_LONG";

/// `short` times, or `long` times where the test is run as part of a long group.
pub fn repeats(short: usize, long: usize) -> usize {
    let Ok(share) = std::env::var(VARIABLE) else { return short };
    let share: f64 = share.parse().unwrap_or_else(|e| panic!("{VARIABLE}={share}: {e}"));
    short.max((long as f64 * share) as usize)
}

/// Tests `part_1` to `part_6`, each of which calls the function `$part`: they run beside each other,
/// and each draws a seed of its own.
#[macro_export]
macro_rules! six_parts {
    ($part:ident) => {
        $crate::six_parts! { $part: part_1 part_2 part_3 part_4 part_5 part_6 }
    };
    ($part:ident: $($name:ident)*) => {
        $(#[test]
        fn $name() {
            $part();
        })*
    };
}
