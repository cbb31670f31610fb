/// A cache of a few JWS headers and the certificate paths that they led to, most recently used first. It is a list and not a dictionary
/// because a header with certificates has kilobytes: comparing it with one of equal length costs less than hashing it.
struct KnownHeaders: Sendable {
  private let capacity: Int
  private var entries: [(header: EncodedHeader, chain: VerifiedChain)] = []

  init(capacity: Int) { self.capacity = capacity }

  mutating func use(_ header: EncodedHeader) -> VerifiedChain? {
    guard let place = entries.firstIndex(where: { $0.header == header }) else { return nil }
    if place > 0 { entries.swapAt(place, 0) }
    return entries[0].chain
  }

  /// When the cache is full, the last entry is removed: the one that was used least recently, or nearly so.
  mutating func keep(_ chain: VerifiedChain, for header: EncodedHeader) {
    entries.removeAll { $0.header == header }
    if entries.count >= capacity { entries.removeLast() }
    if capacity > 0 { entries.insert((header.alone, chain), at: 0) }
  }
}
