/// The deduplication buckets that one call of `commit` checks for natural keys; each bucket is listed once.
struct CommitBuckets {
  private var claims: [DeduplicationStore.Claim] = []
  private let now: Int64

  /// - Parameter now: the time that decides the generation of every claim, milliseconds since 1970.
  init(now: Int64) { self.now = now }

  /// The number of a claim's bucket, from 1 as in Lua. Adds the bucket if it is new.
  mutating func number(of claim: DeduplicationStore.Claim) -> Int {
    if let index = claims.firstIndex(where: { $0.isInBucket(of: claim) }) { return index + 1 }
    claims.append(claim)
    return claims.count
  }

  func write(to pack: inout MessagePackWriter) {
    guard !claims.isEmpty else { return }
    pack.put("buckets") { pack in
      write(.current, as: "current", to: &pack)
      write(.previous, as: "previous", to: &pack)
      if claims.contains(where: { $0.generations.mayBeOver(now: now) }) { write(.next, as: "next", to: &pack) }
      pack.key("seconds")
      pack.beginList()
      for claim in claims {
        pack.element()
        pack.string(String(claim.expirySeconds))
      }
      pack.end()
    }
  }

  private func write(_ generation: DeduplicationStore.Generation, as name: StaticString, to pack: inout MessagePackWriter) {
    pack.key(name)
    pack.beginList()
    for claim in claims {
      pack.element()
      pack.string(claim.bucketName(generation))
    }
    pack.end()
  }
}
