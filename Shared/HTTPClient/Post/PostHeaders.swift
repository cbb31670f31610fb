import CCurl

/// The header lines of a post, as a list for curl. The next post reuses the list's memory. It must be used only on the loop's thread.
final class PostHeaders {
  /// The lines, each ended by a zero byte.
  private var bytes: UnsafeMutablePointer<CChar>
  private var capacity = 1024
  private var count = 0
  private var nodes: UnsafeMutablePointer<curl_slist>
  private var nodeCapacity = 16
  /// The offset in `bytes` at which each line begins.
  private var starts: [Int] = []

  init() {
    bytes = .allocate(capacity: capacity)
    nodes = .allocate(capacity: nodeCapacity)
  }

  deinit {
    bytes.deallocate()
    nodes.deallocate()
  }

  /// The list for these headers. It is valid until the next call.
  func list(_ headers: [(name: String, value: String)]) -> UnsafeMutablePointer<curl_slist> {
    count = 0
    starts.removeAll(keepingCapacity: true)
    // Empty headers remove curl's own: `Expect: 100-continue` for larger bodies, and a content type.
    add("Expect", "", separator: ":")
    if !headers.contains(where: { Self.isContentType($0.name) }) { add("Content-Type", "", separator: ":") }
    // curl sends an empty header only if its line ends with a semicolon.
    for (name, value) in headers { add(name, value, separator: value.isEmpty ? ";" : ": ") }
    if starts.count > nodeCapacity {
      nodes.deallocate()
      nodeCapacity = 2 * starts.count
      nodes = .allocate(capacity: nodeCapacity)
    }
    for (index, start) in starts.enumerated() {
      (nodes + index).initialize(to: curl_slist(data: bytes + start, next: index + 1 < starts.count ? nodes + index + 1 : nil))
    }
    return nodes
  }

  private func add(_ name: String, _ value: String, separator: StaticString) {
    starts.append(count)
    reserve(name.utf8.count + value.utf8.count + separator.utf8CodeUnitCount + 1)
    append(name)
    separator.withUTF8Buffer { append($0) }
    append(value)
    bytes[count] = 0
    count += 1
  }

  private func append(_ text: String) {
    if text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil { Array(text.utf8).withUnsafeBufferPointer { append($0) } }
  }

  private func append(_ text: UnsafeBufferPointer<UInt8>) {
    UnsafeMutableRawBufferPointer(start: bytes + count, count: text.count).copyMemory(from: UnsafeRawBufferPointer(text))
    count += text.count
  }

  private func reserve(_ more: Int) {
    guard count + more > capacity else { return }
    capacity = 2 * (count + more)
    let larger = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
    larger.update(from: bytes, count: count)
    bytes.deallocate()
    bytes = larger
  }

  private static func isContentType(_ name: String) -> Bool {
    name.utf8.count == 12 && zip(name.utf8, "content-type".utf8).allSatisfy { $0 | 0x20 == $1 }
  }
}
