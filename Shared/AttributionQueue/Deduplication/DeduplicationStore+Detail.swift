/// The result of comparing a delivery with the one that claimed its natural key.
public enum DetailFinding: Sendable, Hashable {
  case same, other
  /// No detail is stored with the natural key: storing details was not configured at that time, or the detail has expired.
  case unknown
}

extension DeduplicationStore {
  /// A short digest stored beside a natural key: 32 bits, of which 20 identify the key within its bucket and 12 are a digest of the detail.
  ///
  /// A detail is read only when a later delivery has the same natural key, so reading the whole bucket is acceptable. Two different details
  /// of one key are equal with a probability of 1 in 4,096. If no detail was stored for a key, one of another key in a bucket of 300 is
  /// taken for it with a probability of 1 in 3,500.
  struct Detail {
    private static let detailBits = 12
    /// The claim whose buckets contain the member.
    let claim: Claim
    /// `Int32`, because Redis' integer sets hold signed numbers, here of four bytes each.
    let member: Int32

    fileprivate init(_ claim: Claim, key: [UInt8], detail: [UInt8]) {
      self.claim = claim
      // These bits of the key decide neither the shard nor the bucket.
      let key = key[1..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let detail = detail[0..<2].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      member = Int32(bitPattern: key << Self.detailBits | detail & (1 << Self.detailBits - 1))
    }

    /// True if two members probably belong to the same natural key.
    static func isOfOneKey(_ one: Int32, _ other: Int32) -> Bool { one >> detailBits == other >> detailBits }
  }

  /// - Parameter detail: the bytes in ``Completion/detail``.
  func detail(_ detail: [UInt8], of naturalKey: String, shard: Shard, now: Int64) -> Detail {
    let key = digest(naturalKey)
    return Detail(
      claim(digest: key, in: generations(.detail, shard: shard, now: now)), key: key, detail: digest(Array(naturalKey.utf8) + [0] + detail))
  }
}

extension DeliveryQueue {
  /// Compares a detail with the one stored beside a natural key that was claimed in the shard of a message.
  ///
  /// - Parameter detail: the bytes that ``Completion/detail`` would have.
  public func detail(_ detail: [UInt8], of naturalKey: String, besides message: LeasedMessage) async throws(QueueError) -> DetailFinding {
    let own = deduplication.detail(detail, of: naturalKey, shard: message.shard, now: Self.now)
    var finding = DetailFinding.unknown
    for bucket in own.claim.buckets {
      for member in try await send(["SMEMBERS", .string(bucket)]).array ?? [] {
        guard let member = member.string.flatMap({ Int32($0) }), DeduplicationStore.Detail.isOfOneKey(member, own.member) else {
          continue
        }
        if member == own.member { return .same }
        finding = .other
      }
    }
    return finding
  }
}
