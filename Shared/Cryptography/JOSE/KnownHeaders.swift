/// A few headers and the paths that they led to, the one that was used last first. A header with certificates is kilobytes long: to compare it
/// with one of the same length costs less than a hash of it.
struct KnownHeaders: Sendable {
  private let capacity: Int
  private var entries: [(header: EncodedHeader, chain: VerifiedChain)] = []

  init(capacity: Int) { self.capacity = capacity }

  mutating func use(_ header: EncodedHeader) -> VerifiedChain? {
    guard let place = entries.firstIndex(where: { $0.header == header }) else { return nil }
    if place > 0 { entries.swapAt(place, 0) }
    return entries[0].chain
  }

  /// The one that was used longest ago, or nearly so, gives way.
  mutating func keep(_ chain: VerifiedChain, for header: EncodedHeader) {
    entries.removeAll { $0.header == header }
    if entries.count >= capacity { entries.removeLast() }
    if capacity > 0 { entries.insert((header.alone, chain), at: 0) }
  }
}
