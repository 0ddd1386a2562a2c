use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::sync::Arc;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::listener;
use crate::listener::Stop;

/// How many connections each of the two listeners serves at once.
const CONNECTIONS: usize = 4096;
/// How many of them one address may have.
const PER_ADDRESS: usize = 64;

/// Serves each connection in a task of its own, until `stop`. At the connection limit, further
/// clients wait in the kernel's queue; a connection above its address's limit is closed.
pub(crate) async fn serve<F: Future<Output = ()> + Send + 'static>(
    mut listener: TcpListener,
    mut stop: Stop,
    answer: impl Fn(TcpStream) -> F,
) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let (mut tasks, mut counts) = (JoinSet::new(), HashMap::<_, usize>::new());
    loop {
        let accepted = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, Listener::accept(&mut listener).await.0)
        };
        tokio::select! {
            (permit, mut stream) = accepted => {
                // A connection that is closed already has no address.
                let Ok(from) = stream.peer_addr().map(|from| from.ip()) else { continue };
                let count = counts.entry(from).or_default();
                if *count == PER_ADDRESS {
                    continue;
                }
                *count += 1;
                listener::tune(&mut stream);
                let answered = answer(stream);
                tasks.spawn(async move {
                    answered.await;
                    drop(permit);
                    from
                });
            }
            Some(ended) = tasks.join_next() => {
                if let Ok(from) = ended
                    && let Entry::Occupied(mut count) = counts.entry(from)
                {
                    *count.get_mut() -= 1;
                    if *count.get() == 0 {
                        count.remove();
                    }
                }
            }
            () = stop.wait() => break,
        }
    }
    drop(listener);
    // What is stored is still acknowledged; the time-out of requests, or the daemon's end, limits
    // the wait.
    while tasks.join_next().await.is_some() {}
}
