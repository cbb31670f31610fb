import Cryptography

/// One of the 256 shards, fixed for ever.
public struct Shard: Sendable, Hashable {
  public static let count = 256
  public let index: Int

  public init(_ index: Int) { self.index = index & 255 }

  /// The shard of a key whose placement nobody gains from aiming at.
  public init(hashing text: String) { index = Int(SHA256Digest.hash(text)[0]) }

  public static let all: [Shard] = (0..<count).map { Shard($0) }

  /// Its number in three digits.
  var digits: String { Self.digits[index] }

  private static let digits = (0..<count).map { index in
    let digits = String(index)
    return String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }
}

/// The stores of what was seen before, by how long their generations are.
enum SeenStore: String, Sendable, CaseIterable {
  /// Natural keys of senders that give up within days, and deliveries by their bytes where nothing else keeps them from counting twice.
  case delivery = "d"
  /// Natural keys that recovery can bring back for half a year.
  case notification = "n"
  /// Deliveries by their bytes where that only spares work: ``AcceptRequest/isKnownBriefly``.
  case copy = "c"
  /// Digests of what came with natural keys of ``delivery``, of generations as long: ``SeenBefore/Detail``.
  case detail = "u"

  /// Its number among all.
  var place: Int {
    switch self {
    case .delivery: 0
    case .notification: 1
    case .copy: 2
    case .detail: 3
    }
  }
}
