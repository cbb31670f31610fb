import WireJSON

/// Signs as the App Store does: a compact JWS with ES256 and the certificates in its header.
public struct JWSSigner: Sendable {
  let header: [UInt8]
  let key: EllipticKey

  public init(chain: AppStoreChain) {
    let header: JSONObject = ["alg": "ES256", "x5c": .array(chain.x5c.map { .string($0) })]
    self.header = JSONValue.object(header).serialized
    key = chain.leafKey
  }

  public func sign(_ payload: JSONObject) throws -> String {
    try Self.compact(header: header, payload: JSONValue.object(payload).serialized, key: key)
  }

  /// Signs any payload with any header.
  static func compact(header: [UInt8], payload: [UInt8], key: EllipticKey) throws -> String {
    let input = Base64Text.encodeURL(header) + "." + Base64Text.encodeURL(payload)
    return input + "." + Base64Text.encodeURL(try key.signRaw(Array(input.utf8)))
  }
}
