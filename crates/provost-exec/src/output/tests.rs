use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;

/// Of a text without a note nobody knows whether its note is late.
#[test]
fn who_prints_again_and_again_does_not_hold_the_keeper() {
    let writes = Writes::new().unwrap();
    let mut output = Output::new(Some(&writes)).unwrap();
    let write_end = |output: &Output<'_>, at: usize| {
        output.write_ends().unwrap()[at].as_fd().try_clone_to_owned().unwrap()
    };
    let stdout = write_end(&output, 0);
    output.watched = None;
    rustix::io::write(&stdout, b"unseen\n").unwrap();
    let [out, err] = &output.read_ends;
    output.watched = writes.watch([&out.pipe, &err.pipe]);

    let goes_on = AtomicBool::new(true);
    let most = 500;
    let printed = std::thread::scope(|scope| {
        let printing = scope.spawn(|| {
            let mut printed = 0;
            while printed < most && goes_on.load(Ordering::Relaxed) {
                rustix::io::write(&stdout, b"seen\n").unwrap();
                printed += 1;
                std::thread::sleep(Duration::from_millis(5));
            }
            printed
        });
        let mut text = Vec::new();
        while text.iter().filter(|byte| **byte == b'\n').count() < 3 {
            output.take(|_, more| text.extend_from_slice(more));
        }
        goes_on.store(false, Ordering::Relaxed);
        assert!(text.starts_with(b"unseen\nseen\nseen\n"), "{}", String::from_utf8_lossy(&text));
        printing.join().unwrap()
    });
    assert!(printed < most);
}
