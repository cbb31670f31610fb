/// A URI that names a private key in a token (RFC 7512, The PKCS #11 URI Scheme): `pkcs11:token=…;object=…`.
public struct PKCS11URI: Sendable, Hashable, CustomStringConvertible {
  /// The URI's text, unchanged. It contains no PIN.
  public let description: String
  /// The token's label; nil for any.
  let label: String?
  /// The token's manufacturer, model and serial; each nil for any.
  let manufacturer: String?
  let model: String?
  let serial: String?
  /// The key's label; nil for any.
  let object: String?
  /// The key's id; nil for any.
  let id: [UInt8]?

  /// Parses a URI that names a token (`token` or `serial`) and a key (`object` or `id`). A PIN is refused, and so are attributes that the
  /// engine would ignore.
  public init(validating text: String) throws(PKCS11URIError) {
    guard text.lowercased().hasPrefix("pkcs11:") else { throw .notAPKCS11URI }
    let rest = text.dropFirst("pkcs11:".count)
    // No query attribute is accepted, because PIN and module are configured elsewhere.
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

  /// The percent-decoded text; nil for an invalid encoding, or a character that a URI's path may not contain.
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
  /// The URI has a PIN or a query.
  case query
  case unknownAttribute(String)
  /// The attribute has no value, an invalid one or more than one.
  case malformed(String)
  case notAPrivateKey(String)
  case noToken
  case noObject

  public var description: String {
    switch self {
    case .notAPKCS11URI: "does not begin with pkcs11:"
    case .query: "contains a PIN or a query; the PIN belongs in a file of its own, and the module in the configuration"
    case .unknownAttribute(let name):
      "contains \"\(name)\"; it may contain only token, manufacturer, model, serial, object, id and type"
    case .malformed(let name): "contains no value, an invalid one or more than one for \"\(name)\""
    case .notAPrivateKey(let type): "names an object of type \(type); a private key is required"
    case .noToken: "does not name the token (token= or serial=)"
    case .noObject: "does not name the key (object= or id=)"
    }
  }
}
