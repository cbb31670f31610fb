/// Searches for bytes in texts, in a time that is linear in the text's length (the algorithm of Knuth, Morris and Pratt).
struct BytePattern: Sendable {
  private let bytes: [UInt8]
  /// For each prefix of the bytes, the length of its longest proper suffix that is also a prefix.
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

  /// True if the bytes are a part of the text.
  func occurs(in text: [UInt8]) -> Bool {
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
