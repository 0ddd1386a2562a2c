//! `provostctl watch`.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn watch_prints_a_line_in_a_pipe_when_the_numbers_change() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot())]).await;
    let daemon = serve(&folder).await;
    let mut child = provostctl(folder.path(), &["watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let (send, lines) = std::sync::mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(send.send(line))));
    let next = || lines.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(next().ends_with("Z 1 node: 1 failed"));
    report_good(&daemon, &folder, "cn002").await;
    let line = next();
    assert!(line.ends_with("Z 2 nodes: 1 booted, 1 failed"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_says_that_the_daemon_is_gone_and_what_to_do_and_goes_on_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot())]).await;
    let mut child = provostctl(folder.path(), &["watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let (send, lines) = std::sync::mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(send.send(line))));
    let next = || lines.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    let line = next();
    assert!(line.contains("Z asking provostd at unix:"), "{line}");
    assert!(line.ends_with("; retrying every 1 s"), "{line}");
    assert!(next().starts_with("  hint: check that provostd runs"));
    let daemon = serve(&folder).await;
    assert!(next().ends_with("Z 1 node: 1 failed"));
    daemon.stop().await;
    let line = next();
    assert!(line.contains("provostd") && line.ends_with("; retrying every 1 s"), "{line}");
    assert!(next().starts_with("  hint: check that provostd runs"));
    let daemon = serve(&folder).await;
    assert!(next().ends_with("Z 1 node: 1 failed"));
    child.kill().unwrap();
    child.wait().unwrap();
    daemon.stop().await;
}
