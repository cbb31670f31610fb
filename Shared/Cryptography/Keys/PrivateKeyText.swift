/// Checks the blocks of a PEM text (RFC 7468, and RFC 1421 for the older encryption) before OpenSSL parses the text. OpenSSL would use the
/// first key that it finds, and reports every other problem as one error.
struct PrivateKeyText {
  private struct Block {
    /// The label, such as `EC PRIVATE KEY`.
    let name: String
    /// True if a header line announces the older encryption: `Proc-Type: 4,ENCRYPTED`.
    var hasEncryptedHeader = false
    /// The first eight characters of the Base64 text, which encode the header of the DER value.
    var firstCharacters: [UInt8] = []
    /// The number of Base64 characters without padding.
    var characterCount = 0
  }

  /// True if the key is encrypted, in either way.
  let isEncrypted: Bool

  /// Throws unless the text is exactly one private key of a usable kind. Comments before it are allowed, as OpenSSL's commands write them.
  init(checking bytes: UnsafeRawBufferPointer) throws(KeyError) {
    let blocks = try Self.blocks(bytes)
    let keys = blocks.filter { $0.name.hasSuffix("PRIVATE KEY") }
    guard let key = keys.first else {
      switch blocks.first(where: { $0.name != "EC PARAMETERS" })?.name {
      case nil: throw .notAKey(blocks.isEmpty ? Self.kind(bytes) : "only the parameters of a curve")
      case "PUBLIC KEY", "RSA PUBLIC KEY": throw .publicKeyInPlaceOfPrivate
      case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": throw .certificateInPlaceOfKey
      case let name?: throw .notAKey("a \(name)")
      }
    }
    guard keys.count == 1 else { throw .severalKeys(keys.count) }
    if let other = blocks.first(where: { $0.name != "EC PARAMETERS" && $0.name != key.name }) { throw .moreThanTheKey(other.name) }
    switch key.name {
    case "EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY": break
    case "RSA PRIVATE KEY", "DSA PRIVATE KEY": throw .wrongKind(found: String(key.name.prefix(3)))
    case "OPENSSH PRIVATE KEY": throw .notAKey("OpenSSH's own format; ssh-keygen -p -m PKCS8 converts it")
    default: throw .notAKey("a \(key.name)")
    }
    isEncrypted = key.hasEncryptedHeader || key.name == "ENCRYPTED PRIVATE KEY"
    // A DER value that is shorter than the block is followed by other bytes. With the older encryption, the bytes are not DER.
    if !key.hasEncryptedHeader, let length = Self.derLength(key.firstCharacters), length < key.characterCount * 3 / 4 {
      throw .textAfterTheKey
    }
  }

  /// The text's blocks. Throws if they are nested or unfinished, or if text follows a block.
  private static func blocks(_ bytes: UnsafeRawBufferPointer) throws(KeyError) -> [Block] {
    var blocks: [Block] = []
    var open: Block?
    for raw in bytes.split(separator: UInt8(ascii: "\n")) {
      let line = trimmed(raw)
      if let name = name(line, after: "-----BEGIN ") {
        if open != nil { throw .notAKey("a PEM block within another") }
        open = Block(name: name)
      } else if let name = name(line, after: "-----END ") {
        guard let block = open, block.name == name else { throw .notAKey("an END without its BEGIN") }
        blocks.append(block)
        open = nil
      } else if open != nil {
        // A header line contains a colon; a line of Base64 does not.
        if line.contains(UInt8(ascii: ":")) {
          if line.starts(with: "Proc-Type:".utf8), line.suffix(9).elementsEqual("ENCRYPTED".utf8) { open?.hasEncryptedHeader = true }
        } else {
          let text = line.filter { $0 != UInt8(ascii: "=") }
          open?.characterCount += text.count
          if let count = open?.firstCharacters.count, count < 8 { open?.firstCharacters += text.prefix(8 - count) }
        }
      } else if !blocks.isEmpty, !line.isEmpty {
        throw .textAfterTheKey
      }
    }
    if let open { throw .notAKey("its \(open.name) has no end") }
    return blocks
  }

  /// The line without spaces, tabs and carriage returns at both ends.
  private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    guard let first = line.firstIndex(where: { !isSpace($0) }), let last = line.lastIndex(where: { !isSpace($0) }) else {
      return line.prefix(0)
    }
    return line[first...last]
  }

  /// The label of a line that begins or ends a block; nil for another line.
  private static func name(_ line: Slice<UnsafeRawBufferPointer>, after prefix: String) -> String? {
    guard line.starts(with: prefix.utf8), line.suffix(5).elementsEqual("-----".utf8), line.count >= prefix.utf8.count + 5 else {
      return nil
    }
    return String(decoding: line.dropFirst(prefix.utf8.count).dropLast(5), as: UTF8.self)
  }

  /// A description of bytes without a PEM block, for the error.
  private static func kind(_ bytes: UnsafeRawBufferPointer) -> String {
    if bytes.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) { return "empty" }
    return bytes.first == 0x30 ? "binary; openssl pkcs8 -inform DER converts it to PEM" : "not PEM"
  }

  /// The length in bytes, including its header, of the DER SEQUENCE whose Base64 begins with these eight characters. Nil if it is not a
  /// SEQUENCE or longer than 64 KiB.
  private static func derLength(_ firstCharacters: [UInt8]) -> Int? {
    guard firstCharacters.count == 8, let head = Base64.decode(String(decoding: firstCharacters, as: UTF8.self)), head[0] == 0x30 else {
      return nil
    }
    let first = Int(head[1])
    guard first >= 0x80 else { return 2 + first }
    let width = first & 0x7F
    guard (1...2).contains(width) else { return nil }
    return 2 + width + head[2..<2 + width].reduce(0) { $0 << 8 | Int($1) }
  }
}
