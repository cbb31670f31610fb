/// Bytes that are looked for inside of texts, in time that grows with the text alone (Knuth, Morris and Pratt).
struct Fragment: Sendable {
  private let bytes: [UInt8]
  /// Of each beginning of the bytes, how many of its last bytes are a beginning too.
  private let borders: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var borders = Array(repeating: 0, count: bytes.count)
    var matched = 0
    for index in bytes.indices.dropFirst() {
      while matched > 0, bytes[index] != bytes[matched] { matched = borders[matched - 1] }
      if bytes[index] == bytes[matched] { matched += 1 }
      borders[index] = matched
    }
    self.borders = borders
  }

  func isIn(_ text: [UInt8]) -> Bool {
    guard text.count >= bytes.count else { return false }
    var matched = 0
    for byte in text {
      if matched == bytes.count { return true }
      while matched > 0, byte != bytes[matched] { matched = borders[matched - 1] }
      if byte == bytes[matched] { matched += 1 }
    }
    return matched == bytes.count
  }
}
