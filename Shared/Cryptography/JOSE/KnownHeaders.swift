/// A cache of a few JWS headers and the certificate paths that they led to, most recently used first. It is a list and not a dictionary
/// because a header with certificates has kilobytes: comparing it with one of equal length costs less than hashing it.
struct KnownHeaders: Sendable {
  private let capacity: Int
  private var entries: [KnownHeader] = []

  init(capacity: Int) { self.capacity = capacity }

  mutating func use(_ header: EncodedHeader) -> KnownHeader? {
    guard let place = entries.firstIndex(where: { $0.header == header }) else { return nil }
    if place > 0 { entries.swapAt(place, 0) }
    return entries[0]
  }

  /// When the cache is full, the last entry is removed: the one that was used least recently, or nearly so.
  mutating func keep(_ known: KnownHeader) {
    guard capacity > 0 else { return }
    entries.removeAll { $0.header == known.header }
    if entries.count >= capacity { entries.removeLast() }
    entries.insert(known, at: 0)
  }
}

/// A JWS header whose certificate path was verified.
///
/// With three certificates it is most of the signed bytes of the App Store's JWS, so the state of SHA-256 after it is cached too.
public final class KnownHeader: Sendable {
  let header: EncodedHeader
  public let chain: VerifiedChain
  private let prefix: SHA256Prefix

  init(_ header: EncodedHeader, _ chain: VerifiedChain) {
    self.header = header.alone
    self.chain = chain
    prefix = SHA256Prefix(header.bytes)
  }

  /// SHA-256 of the signed bytes of a JWS with this header; nil if it has another header.
  public func digest(of jws: EncodedJWS) -> [UInt8]? { jws.header == header ? prefix.hash(jws.signingInput) : nil }
}
