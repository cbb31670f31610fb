import Cryptography
import RedisClient
import Synchronization

/// The deduplication store: 64 bits of a keyed digest per key, as members of integer sets (buckets) that expire as a whole.
///
/// Time is divided into generations. A key is claimed in a bucket of the current generation and counts as claimed if the bucket of the
/// current or the previous generation contains it, so it is stored for one to two generations. This type only computes names and members:
/// accept.lua claims idempotency keys; the scripts of `Scripts/Commit` and ``CommitTransaction`` claim natural keys.
struct DeduplicationStore: Sendable {
  private let digestKey: HMACSHA256
  let configuration: QueueConfiguration
  private let cache = GenerationCache()

  init(digestKey: [UInt8], configuration: QueueConfiguration) {
    self.digestKey = HMACSHA256(key: digestKey)
    self.configuration = configuration
  }

  /// The generations that are checked in a shard at a given time: the current, the previous and the next one.
  final class Generations: Sendable {
    fileprivate let generation: Int64
    /// The prefix of the bucket names of each generation, in the order of ``Generation``. The number of the bucket follows.
    let prefixes: [String]
    /// The expiry of a new bucket: two generations, plus the maximum difference of clocks or an hour if that is longer. The instance whose
    /// clock is furthest ahead may create the bucket, and the one whose clock is furthest behind still needs it until its next generation
    /// ends.
    let expirySeconds: Int64
    /// The number of buckets of a generation.
    let buckets: Int
    /// The time from which the current generation may have ended by the clock of another instance; milliseconds since 1970.
    private let mayBeOverFrom: Int64

    fileprivate init(
      _ scope: DeduplicationScope, _ shard: Shard, _ generation: Int64, milliseconds length: Int64, clockDifference: Int64, buckets: Int
    ) {
      self.generation = generation
      self.buckets = buckets
      mayBeOverFrom = (generation + 1) * length - clockDifference
      prefixes = [generation, generation - 1, generation + 1].map { Keys.seen(scope, generation: $0, shard) }
      expirySeconds = 2 * length / 1000 + max(3600, (clockDifference + 999) / 1000)
    }

    /// True if another instance, whose clock is ahead, may be in the next generation already.
    func mayBeOver(now: Int64) -> Bool { now >= mayBeOverFrom }
  }

  /// Caches the generations of each scope and shard, because they stay the same for hours or days.
  private final class GenerationCache: Sendable {
    /// By scope and shard; see ``generations(_:shard:now:)``.
    let entries = Mutex<[Generations?]>(Array(repeating: nil, count: DeduplicationScope.allCases.count * Shard.count))
  }

  /// The raw value is the index in ``Generations/prefixes``.
  enum Generation: Int, CaseIterable { case current, previous, next }

  /// The claim of one key: the bucket and the member by which it is stored.
  struct Claim {
    let generations: Generations
    /// The number of the bucket.
    let bucket: Int
    /// `Int64`, because Redis' integer sets hold signed 64-bit numbers.
    let member: Int64

    var expirySeconds: Int64 { generations.expirySeconds }

    fileprivate init(_ digest: [UInt8], in generations: Generations) {
      self.generations = generations
      bucket = digest[4..<8].reduce(0) { $0 << 8 | Int($1) } % generations.buckets
      member = Int64(bitPattern: digest[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// The part of a digest that identifies a claim, in hexadecimal digits.
    static func digits(of digest: [UInt8]) -> String { Hex.encode(Array(digest[..<16])) }

    /// True if both claims have the same bucket. Their ``generations`` may be different objects with equal content, because the cache may
    /// have created them again.
    func isInBucket(of other: Claim) -> Bool {
      bucket == other.bucket && (generations === other.generations || generations.prefixes == other.generations.prefixes)
    }

    /// The names of the bucket in the current, the previous and the next generation.
    var buckets: [String] { Generation.allCases.map(bucketName) }

    func bucketName(_ generation: Generation) -> String { generations.prefixes[generation.rawValue] + String(bucket) }

    /// Appends the names of the bucket as accept.lua expects them: in the current, the previous and the next generation. While no clock can
    /// be in the next generation, the name in the previous one is repeated, so that Redis checks one set less.
    func append(to keys: inout EncodedArguments, now: Int64) {
      append(.current, to: &keys)
      append(.previous, to: &keys)
      append(generations.mayBeOver(now: now) ? .next : .previous, to: &keys)
    }

    /// Appends the name of the bucket in one generation.
    func append(_ generation: Generation, to keys: inout EncodedArguments) {
      keys.append(generations.prefixes[generation.rawValue], Int64(bucket))
    }
  }

  /// A digest (HMAC with SHA-256, 32 bytes). It is keyed with a secret, so that a sender cannot choose the bucket or the shard.
  func digest(_ key: String) -> [UInt8] { digestKey.authenticate(key.utf8) }

  func digest(_ bytes: [UInt8]) -> [UInt8] { digestKey.authenticate(bytes) }

  func generations(_ scope: DeduplicationScope, shard: Shard, now: Int64) -> Generations {
    let length = configuration.generation(of: scope).milliseconds
    let generation = now / length
    let index = shard.index + scope.index * Shard.count
    return cache.entries.withLock { entries in
      if let found = entries[index], found.generation == generation { return found }
      let created = Generations(
        scope, shard, generation, milliseconds: length, clockDifference: configuration.clockDifference.milliseconds,
        buckets: configuration.buckets(of: scope))
      entries[index] = created
      return created
    }
  }

  func claim(_ key: String, in generations: Generations) -> Claim { claim(digest: digest(key), in: generations) }

  func claim(_ key: String, scope: DeduplicationScope, shard: Shard, now: Int64) -> Claim {
    claim(key, in: generations(scope, shard: shard, now: now))
  }

  /// - Parameter digest: ``digest(_:)`` of the key.
  func claim(digest: [UInt8], in generations: Generations) -> Claim {
    Claim(digest, in: generations)
  }

  /// Returns nil if the digits are not those of ``Claim/digits(of:)``.
  func claim(digits: String, in generations: Generations) -> Claim? {
    guard let digest = Hex.decode(digits), digest.count == 16 else { return nil }
    return claim(digest: digest, in: generations)
  }
}
