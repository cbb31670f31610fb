/// What is known of what came with a natural key that was counted.
public enum DetailFinding: Sendable, Hashable {
  case same, other
  /// Nothing was kept: it was not asked for then, or is forgotten.
  case unknown
}

extension DeduplicationStore {
  /// What is kept beside a natural key: 32 bits, of which 20 tell the key among those of its bucket and 12 are a digest of the rest.
  ///
  /// Nobody looks for it until the natural key is seen again, so that a bucket can be read whole then. Of two details of one key one in
  /// 4,096 passes for the other. Of a key whose own was not kept, another key of a bucket of 300 is taken for it once in 3,500 times.
  struct Detail {
    private static let detailBits = 12
    /// Its buckets.
    let claim: Claim
    /// Signed, so that the set stays an integer set, of four bytes a member.
    let member: Int32

    fileprivate init(_ claim: Claim, key: [UInt8], detail: [UInt8]) {
      self.claim = claim
      // Neither the shard nor the bucket is told by these bits of the key.
      let key = key[1..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let detail = detail[0..<2].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      member = Int32(bitPattern: key << Self.detailBits | detail & (1 << Self.detailBits - 1))
    }

    /// Whether two members are of one natural key, as far as they tell.
    static func isOfOneKey(_ one: Int32, _ other: Int32) -> Bool { one >> detailBits == other >> detailBits }
  }

  func detail(_ detail: [UInt8], of naturalKey: String, shard: Shard, now: Int64) -> Detail {
    let key = digest(naturalKey)
    return Detail(
      claim(digest: key, in: generations(.detail, shard: shard, now: now)), key: key, detail: digest(Array(naturalKey.utf8) + [0] + detail))
  }
}

extension DeliveryQueue {
  /// What was kept beside a natural key that was counted in the shard of a message: whether it is this.
  ///
  /// - Parameter detail: as ``Completion/detail``.
  public func detail(_ detail: [UInt8], of naturalKey: String, besides message: LeasedMessage) async throws(QueueError) -> DetailFinding {
    let wanted = deduplication.detail(detail, of: naturalKey, shard: message.shard, now: Self.now)
    var finding = DetailFinding.unknown
    for bucket in wanted.claim.buckets {
      for member in try await send(["SMEMBERS", .string(bucket)]).array ?? [] {
        guard let member = member.string.flatMap({ Int32($0) }), DeduplicationStore.Detail.isOfOneKey(member, wanted.member) else {
          continue
        }
        if member == wanted.member { return .same }
        finding = .other
      }
    }
    return finding
  }
}
