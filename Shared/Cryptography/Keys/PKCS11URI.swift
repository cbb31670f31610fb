/// The name of a private key in a token (RFC 7512, The PKCS #11 URI Scheme): `pkcs11:token=…;object=…`.
public struct PKCS11URI: Sendable, Hashable, CustomStringConvertible {
  /// The text as given. It contains no PIN.
  public let description: String
  /// The token's label; nil for any.
  let label: String?
  let manufacturer: String?
  let model: String?
  let serial: String?
  /// The key's label; nil for any.
  let object: String?
  let id: [UInt8]?

  /// Parses a URI that names a token (`token` or `serial`) and a key (`object` or `id`). A PIN is refused, and so are attributes that the
  /// engine would ignore.
  public init(validating text: String) throws(PKCS11URIError) {
    guard text.lowercased().hasPrefix("pkcs11:") else { throw .notAPKCS11URI }
    let rest = text.dropFirst("pkcs11:".count)
    // A query is refused as a whole, because PIN and module are configured elsewhere.
    guard !rest.contains("?") else { throw .query }
    var values: [String: [UInt8]] = [:]
    for part in rest.split(separator: ";", omittingEmptySubsequences: false) {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(pair[0])
      if name == "pin-value" || name == "pin-source" { throw .query }
      guard Self.names.contains(name) else { throw .unknownAttribute(name) }
      guard pair.count == 2, let value = Self.decoded(pair[1]), !value.isEmpty, name == "id" || !value.contains(0) else {
        throw .malformed(name)
      }
      guard values.updateValue(value, forKey: name) == nil else { throw .malformed(name) }
    }
    func string(_ name: String) throws(PKCS11URIError) -> String? {
      guard let value = values[name] else { return nil }
      guard let text = String(validating: value, as: UTF8.self) else { throw .malformed(name) }
      return text
    }
    if let type = try string("type"), type != "private" { throw .notAPrivateKey(type) }
    label = try string("token")
    manufacturer = try string("manufacturer")
    model = try string("model")
    serial = try string("serial")
    object = try string("object")
    id = values["id"]
    guard label != nil || serial != nil else { throw .noToken }
    guard object != nil || id != nil else { throw .noObject }
    description = text
  }

  private static let names: Set<String> = ["token", "manufacturer", "model", "serial", "object", "id", "type"]

  /// Percent-decodes a text; nil for invalid encoding, or a character that a URI's path may not have.
  private static func decoded(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let value = Hex.decode(String(Substring(rest.prefix(2)))), value.count == 1 else { return nil }
        bytes += value
        rest = rest.dropFirst(2)
      } else {
        guard (0x21...0x7E).contains(byte), !"\"#/<>\\^`{|}".utf8.contains(byte) else { return nil }
        bytes.append(byte)
      }
    }
    return bytes
  }
}

/// Why a text is not the URI of a key in a token.
public enum PKCS11URIError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAPKCS11URI
  case query
  case unknownAttribute(String)
  case malformed(String)
  case notAPrivateKey(String)
  case noToken
  case noObject

  public var description: String {
    switch self {
    case .notAPKCS11URI: "does not begin with pkcs11:"
    case .query: "holds a PIN or a query; the PIN belongs in a file of its own and the module in the configuration"
    case .unknownAttribute(let name):
      "holds \"\(name)\"; only token, manufacturer, model, serial, object, id and type belong in it"
    case .malformed(let name): "holds no value, a broken one or more than one for \"\(name)\""
    case .notAPrivateKey(let type): "names an object of type \(type); a private key belongs here"
    case .noToken: "does not name the token (token= or serial=)"
    case .noObject: "does not name the key (object= or id=)"
    }
  }
}
