//! Publishes a card, reads every peer's, and says whom it met: a check of any launcher.

fn main() {
    if let Err(error) = exchange() {
        eprintln!("card_exchange: {error}");
        std::process::exit(1);
    }
}

fn exchange() -> weft_bootstrap::Result<()> {
    let bootstrap = weft_bootstrap::connect()?;
    let job = bootstrap.job();
    let card_of = |rank: u32| format!("card-of-{rank}-{}", "x=y;".repeat(500));
    bootstrap.publish(&card_of(job.rank))?;
    bootstrap.fence()?;
    for rank in 0..job.size {
        let card = bootstrap.card(rank)?;
        assert_eq!(card, card_of(rank), "the card of rank {rank}");
    }
    println!(
        "rank {} of {}, {} of {} on this host {:?}, app {}, universe {:?}, cores {:?}, by {:?}, read {} cards",
        job.rank,
        job.size,
        job.local_rank,
        job.local_size,
        bootstrap.peers_on_this_host(),
        job.app_num,
        job.universe_size,
        job.host_cores,
        job.launcher,
        job.size
    );
    bootstrap.finalize()
}
