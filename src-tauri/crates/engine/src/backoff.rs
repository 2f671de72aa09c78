//! How long to wait before the next attempt.

use rand::Rng;

/// The longest exponential part, in seconds.
const CEILING_S: u64 = 60;

/// `min(2^n, 60) s + uniform(0, n) s` in milliseconds, before attempt number `n` + 1.
pub fn delay_ms(attempts: u32, random: &mut impl Rng) -> u64 {
    let exponential_s = 2u64.checked_pow(attempts).map_or(CEILING_S, |seconds| seconds.min(CEILING_S));
    let spread_ms = u64::from(attempts.min(60)) * 1_000;
    exponential_s * 1_000 + random.random_range(0..=spread_ms)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn delays_grow_to_a_ceiling_and_stay_within_their_spread() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for (attempts, least) in [(0, 1_000), (1, 2_000), (5, 32_000), (6, 60_000), (64, 60_000), (u32::MAX, 60_000)] {
            for _ in 0..100 {
                let delay = delay_ms(attempts, &mut random);
                assert!((least..=least + u64::from(attempts.min(60)) * 1_000).contains(&delay), "{attempts}: {delay}");
            }
        }
    }
}
