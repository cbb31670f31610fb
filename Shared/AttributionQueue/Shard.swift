import Cryptography

/// One of the 256 shards. Their number must never change, because key names contain the shard (``Keys``, `{attr:017}`).
/// ``DeliveryQueue/accept(_:)`` decides the shard of a delivery by its order key.
public struct Shard: Sendable, Hashable {
  public static let count = 256
  /// 0 to 255.
  public let index: Int

  /// - Parameter index: only its lowest eight bits count.
  public init(_ index: Int) { self.index = index & 255 }

  /// The shard of a key by an unkeyed digest, for keys whose placement gives a sender no advantage.
  public init(hashing text: String) { index = Int(SHA256Digest.hash(text)[0]) }

  public static let all: [Shard] = (0..<count).map { Shard($0) }

  /// The index in three decimal digits.
  var digits: String { Self.digits[index] }

  private static let digits = (0..<count).map { index in
    let digits = String(index)
    return String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }
}
