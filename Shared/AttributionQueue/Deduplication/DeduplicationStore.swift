import Cryptography
import RedisClient
import Synchronization

/// The deduplication store: 64 bits of a keyed digest per key, in integer sets (buckets) that expire as a whole.
struct DeduplicationStore: Sendable {
  private let digestKey: HMACSHA256
  let configuration: QueueConfiguration
  private let known = Known()

  init(digestKey: [UInt8], configuration: QueueConfiguration) {
    self.digestKey = HMACSHA256(key: digestKey)
    self.configuration = configuration
  }

  /// The generations that are checked in a shard at a given time: the current, the last and the next one.
  final class Generations: Sendable {
    fileprivate let generation: Int64
    /// The names of the buckets of each generation without their numbers.
    let prefixes: [String]
    /// The expiry of a new bucket: two generations and the largest difference of clocks, but at least an hour, because the instance whose clock is furthest ahead may
    /// make the bucket, and the one whose clock is furthest behind still needs it at the end of its next generation.
    let expirySeconds: Int64
    /// The number of buckets of a generation.
    let buckets: Int
    /// The time from which another instance, whose clock is ahead, may be in the next generation; milliseconds since 1970.
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

    /// True if another instance, whose clock is ahead, may be in the next generation.
    func mayBeOver(now: Int64) -> Bool { now >= mayBeOverFrom }
  }

  /// A cache of the generations of each scope and shard: they stay the same for hours or days.
  private final class Known: Sendable {
    let places = Mutex<[Generations?]>(Array(repeating: nil, count: DeduplicationScope.allCases.count * Shard.count))
  }

  /// The generations by their index in ``Generations``.
  enum Generation: Int, CaseIterable { case this, last, next }

  struct Claim {
    let generations: Generations
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

    /// True if both claims have the same bucket. The objects may differ, because the cache may have created the generations again.
    func isInBucket(of other: Claim) -> Bool {
      bucket == other.bucket && (generations === other.generations || generations.prefixes == other.generations.prefixes)
    }

    /// The buckets of the current, the last and the next generation.
    var buckets: [String] { Generation.allCases.map(bucketName) }

    func bucketName(_ generation: Generation) -> String { generations.prefixes[generation.rawValue] + String(bucket) }

    /// Appends the names of the three buckets. The third is that of the next generation; while no clock can be there, the last one's is repeated.
    func append(to words: inout EncodedArguments, now: Int64) {
      append(.this, to: &words)
      append(.last, to: &words)
      append(generations.mayBeOver(now: now) ? .next : .last, to: &words)
    }

    /// Appends the name of one bucket.
    func append(_ generation: Generation, to words: inout EncodedArguments) {
      words.append(generations.prefixes[generation.rawValue], Int64(bucket))
    }
  }

  /// The digest is keyed with a secret, so that a sender cannot choose the bucket or the shard.
  func digest(_ key: String) -> [UInt8] { digestKey.authenticate(key.utf8) }

  func digest(_ bytes: [UInt8]) -> [UInt8] { digestKey.authenticate(bytes) }

  func generations(_ scope: DeduplicationScope, shard: Shard, now: Int64) -> Generations {
    let length = configuration.generation(of: scope).milliseconds
    let generation = now / length
    let place = shard.index + scope.index * Shard.count
    return known.places.withLock { known in
      if let found = known[place], found.generation == generation { return found }
      let made = Generations(
        scope, shard, generation, milliseconds: length, clockDifference: configuration.clockDifference.milliseconds,
        buckets: configuration.buckets(of: scope))
      known[place] = made
      return made
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
