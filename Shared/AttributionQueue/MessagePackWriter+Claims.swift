/// Claims, as `commit` reads them.
extension MessagePackWriter {
  mutating func write(_ claim: SeenBefore.Claim) {
    key("bucket")
    string(String(claim.bucket))
    key("member")
    string(String(claim.member))
  }

  mutating func write(_ detail: SeenBefore.Detail) {
    key("details")
    string(detail.claim.buckets[SeenBefore.Generation.this.rawValue])
    key("detail")
    string(String(detail.member))
  }

  /// Where an idempotency key may lie that is to be forgotten: which of two stores it is in nothing tells.
  ///
  /// - Parameter digits: ``SeenBefore/Claim/digits(of:)``.
  mutating func writeForgotten(_ digits: String, _ seen: SeenBefore, _ shard: Shard, now: Int64) {
    key("forgotten")
    beginList()
    for store in [SeenStore.delivery, .copy] {
      guard let claim = seen.claim(digits: digits, in: seen.generations(store, shard: shard, now: now)) else { continue }
      for bucket in claim.buckets {
        element()
        beginMap()
        key("bucket")
        string(bucket)
        key("member")
        string(String(claim.member))
        end()
      }
    }
    end()
  }
}
