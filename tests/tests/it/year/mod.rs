//! A year of a site in production, by a clock that the test moves. Every boot succeeds, unless the admin was told before
//! it that the node's identity expires. `cargo xtask test --long year` has more of everything.

mod plan;
mod site;

use fastrand::Rng;
use provost_tests::{FakeClock, Faketime, InstalledPrograms, repeats, seed};

use plan::Size;
use site::Site;

#[test]
fn every_node_boots_or_the_admin_was_told_before() {
    let faketime = Faketime::new();
    let programs = InstalledPrograms::new(site::VERSIONS[0]);
    let clock = FakeClock::enter(&faketime, &programs);
    let mut rng = Rng::with_seed(seed());
    let size = Size {
        nodes: repeats(5, 50),
        rotations: repeats(4, 24),
        publishes: repeats(12, 400),
        boots: repeats(2, 8),
    };
    let mut site = Site::new(size.nodes, programs);
    for (day, event) in plan::draw(&mut rng, size) {
        clock.set_day(day);
        eprintln!("day {day:>3}  {event}");
        site.note_what_expires();
        site.handle(&event);
    }
    site.assert_nodes_have_booted();
    site.assert_all_is_of_the_last_version();
}
