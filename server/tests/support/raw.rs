//! Sockets that do not speak SSH, or stop early.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// Accepts, sends the bytes, then closes or holds the connection. Counts connections.
pub struct Raw {
    pub port: u16,
    pub connections: Arc<AtomicUsize>,
}

impl Raw {
    pub async fn start(says: &'static [u8], closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(says).await;
                if closes {
                    let _ = stream.shutdown().await;
                } else {
                    held.push(stream);
                }
            }
        });
        Self { port, connections }
    }
}

/// A port where nothing listens.
pub async fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}
