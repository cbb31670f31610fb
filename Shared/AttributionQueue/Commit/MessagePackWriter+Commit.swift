/// Parts of the map that commit.lua reads.
extension MessagePackWriter {
  /// Writes an event that is not the first of its message.
  mutating func write(_ event: EventRecord) {
    beginMap()
    put("id", event.id)
    put("type", event.type)
    put("json", event.json)
    if let network = event.attributes.adNetworkId { put("network", network) }
    if let app = event.attributes.appAppleId { put("app", String(app)) }
    if let bundle = event.attributes.bundleId { put("bundle", bundle) }
    if let environment = event.attributes.environment { put("environment", environment) }
    end()
  }

  /// Writes the buckets that may contain an idempotency key that is to be removed. It is not known in which of the two scopes the key was
  /// claimed, so the buckets of both are listed.
  ///
  /// - Parameter digits: ``DeduplicationStore/Claim/digits(of:)``.
  mutating func writeForgotten(_ digits: String, _ deduplication: DeduplicationStore, _ shard: Shard, now: Int64) {
    key("forgotten")
    beginList()
    for scope in [DeduplicationScope.delivery, .copy] {
      guard let claim = deduplication.claim(digits: digits, in: deduplication.generations(scope, shard: shard, now: now)) else { continue }
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
