/// A cache of a few JWS headers with their verified certificate paths. It is a list and not a dictionary, because a header with
/// certificates has kilobytes: comparing it with a few others costs less than hashing it.
struct KnownHeaders: Sendable {
  private let capacity: Int
  private var entries: [KnownHeader] = []

  init(capacity: Int) { self.capacity = capacity }

  /// The entry of an identical header; nil if there is none. The entry becomes the first one.
  mutating func use(_ header: EncodedHeader) -> KnownHeader? {
    guard let index = entries.firstIndex(where: { $0.header == header }) else { return nil }
    if index > 0 { entries.swapAt(index, 0) }
    return entries[0]
  }

  /// Adds an entry. When the cache is full, the last entry is removed: one that was not used recently.
  mutating func keep(_ known: KnownHeader) {
    guard capacity > 0 else { return }
    entries.removeAll { $0.header == known.header }
    if entries.count >= capacity { entries.removeLast() }
    entries.insert(known, at: 0)
  }
}

/// A JWS header whose certificate path was verified.
///
/// A header with three certificates is most of the signed bytes of a JWS of the App Store. So the state of SHA-256 after the header is
/// cached too.
public final class KnownHeader: Sendable {
  let header: EncodedHeader
  public let chain: VerifiedChain
  private let prefix: SHA256Prefix

  init(_ header: EncodedHeader, _ chain: VerifiedChain) {
    self.header = header.withoutPayload
    self.chain = chain
    prefix = SHA256Prefix(header.bytes)
  }

  /// SHA-256 of the signed bytes of a JWS with this header; nil if it has another header.
  public func digest(of jws: EncodedJWS) -> [UInt8]? { jws.header == header ? prefix.hash(jws.signingInput) : nil }
}
