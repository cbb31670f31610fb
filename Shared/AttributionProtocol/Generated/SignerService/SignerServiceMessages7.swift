// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// The public data of a key.
public struct SigningKeyInfo: RPCMessage, Hashable {
  public var keyId: String
  /// pending, active, retiring or revoked.
  public var state: String
  /// ES256.
  public var algorithm: String
  /// SubjectPublicKeyInfo in PEM, the form that Apple's registration requires.
  public var publicKey: String
  public var adNetworkId: String?
  public var bundleId: String?
  /// impressions, appStoreServer, otherAppStoreServer or offers.
  public var use: String

  public init(
    keyId: String = "",
    state: String = "",
    algorithm: String = "",
    publicKey: String = "",
    adNetworkId: String? = nil,
    bundleId: String? = nil,
    use: String = ""
  ) {
    self.keyId = keyId
    self.state = state
    self.algorithm = algorithm
    self.publicKey = publicKey
    self.adNetworkId = adNetworkId
    self.bundleId = bundleId
    self.use = use
  }

  public init() {
    self.keyId = ""
    self.state = ""
    self.algorithm = ""
    self.publicKey = ""
    self.adNetworkId = nil
    self.bundleId = nil
    self.use = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "keyId", "key_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "algorithm":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          algorithm = try reader.readString()
        case "publicKey", "public_key":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          publicKey = try reader.readString()
        case "adNetworkId", "ad_network_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "use":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          use = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if !algorithm.isEmpty {
      writer.key("algorithm")
      writer.string(algorithm)
    }
    if !publicKey.isEmpty {
      writer.key("publicKey")
      writer.string(publicKey)
    }
    if let adNetworkId {
      writer.key("adNetworkId")
      writer.string(adNetworkId)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !use.isEmpty {
      writer.key("use")
      writer.string(use)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct ListSigningKeysResponse: RPCMessage, Hashable {
  public var keys: [SigningKeyInfo]

  public init(
    keys: [SigningKeyInfo] = []
  ) {
    self.keys = keys
  }

  public init() {
    self.keys = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "keys":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          keys = try reader.readList { (reader) throws(JSONError) in try SigningKeyInfo(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !keys.isEmpty {
      writer.key("keys")
      writer.beginArray()
      for element in keys { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
