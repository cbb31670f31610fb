/// Reads the elements of ASN.1 in DER, and in BER with indefinite lengths, which Xcode's receipts use. The depth of nesting is limited.
struct DERReader {
  /// An element: its tag and its content, without the length.
  struct Element {
    let tag: UInt8
    let content: ArraySlice<UInt8>
    var isConstructed: Bool { tag & 0x20 != 0 }
  }

  enum Failure: Error { case malformed, tooDeep }

  /// The greatest depth of nesting, so that a crafted receipt cannot exhaust the stack.
  static let maxDepth = 24
  /// The bytes that are not read yet.
  private var rest: ArraySlice<UInt8>
  private let depth: Int

  init(_ bytes: ArraySlice<UInt8>, depth: Int = 0) {
    rest = bytes
    self.depth = depth
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// A reader of an element's content.
  func inside(_ element: Element) throws(Failure) -> DERReader {
    guard depth < Self.maxDepth else { throw .tooDeep }
    return DERReader(element.content, depth: depth + 1)
  }

  /// Reads the next element.
  mutating func next() throws(Failure) -> Element {
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { throw .malformed }
    if first == 0x80 {
      // An element of indefinite length ends at the end-of-contents marker, two zero bytes, of its own level. So its inner elements are
      // read.
      guard tag & 0x20 != 0, depth < Self.maxDepth else { throw depth < Self.maxDepth ? .malformed : .tooDeep }
      var inner = DERReader(rest, depth: depth + 1)
      while !inner.rest.starts(with: [0, 0]) { _ = try inner.next() }
      let content = rest[rest.startIndex..<inner.rest.startIndex]
      rest = inner.rest.dropFirst(2)
      return Element(tag: tag, content: content)
    }
    var length = Int(first)
    if first > 0x80 {
      let count = Int(first & 0x7F)
      // More than four bytes of length are longer than any receipt.
      guard count <= 4, rest.count >= count else { throw .malformed }
      length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(count)
    }
    guard length <= rest.count else { throw .malformed }
    defer { rest = rest.dropFirst(length) }
    return Element(tag: tag, content: rest.prefix(length))
  }

  /// The bytes of an OCTET STRING, which may consist of several inner ones.
  func octets(_ element: Element) throws(Failure) -> [UInt8] {
    guard element.isConstructed else { return Array(element.content) }
    var pieces: [UInt8] = []
    var reader = try inside(element)
    while !reader.isAtEnd { pieces += try reader.octets(try reader.next()) }
    return pieces
  }
}
