// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyBatchRequest: RPCMessage, Hashable {
  public var items: [VerifyItem]

  public init(
    items: [VerifyItem] = []
  ) {
    self.items = items
  }

  public init() {
    self.items = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "items":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          items = try reader.readList { (reader) throws(JSONError) in try VerifyItem(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !items.isEmpty {
      writer.key("items")
      writer.beginArray()
      for element in items { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// The verdict in the field of the item's kind, or an error.
public struct VerifyResult: RPCMessage, Hashable {
  public var skadnetworkPostback: VerifySKAdNetworkPostbackResponse?
  public var adAttributionKitPostback: VerifyAdAttributionKitPostbackResponse?
  public var appStoreSignedData: VerifyAppStoreSignedDataResponse?
  public var skadnetworkImpression: VerifySKAdNetworkImpressionResponse?
  public var adAttributionKitImpression: VerifyAdAttributionKitImpressionResponse?
  public var error: ItemError?

  public init(
    skadnetworkPostback: VerifySKAdNetworkPostbackResponse? = nil,
    adAttributionKitPostback: VerifyAdAttributionKitPostbackResponse? = nil,
    appStoreSignedData: VerifyAppStoreSignedDataResponse? = nil,
    skadnetworkImpression: VerifySKAdNetworkImpressionResponse? = nil,
    adAttributionKitImpression: VerifyAdAttributionKitImpressionResponse? = nil,
    error: ItemError? = nil
  ) {
    self.skadnetworkPostback = skadnetworkPostback
    self.adAttributionKitPostback = adAttributionKitPostback
    self.appStoreSignedData = appStoreSignedData
    self.skadnetworkImpression = skadnetworkImpression
    self.adAttributionKitImpression = adAttributionKitImpression
    self.error = error
  }

  public init() {
    self.skadnetworkPostback = nil
    self.adAttributionKitPostback = nil
    self.appStoreSignedData = nil
    self.skadnetworkImpression = nil
    self.adAttributionKitImpression = nil
    self.error = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "skadnetworkPostback", "skadnetwork_postback":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          skadnetworkPostback = try VerifySKAdNetworkPostbackResponse(reading: &reader)
          if adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil || error != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "adAttributionKitPostback", "ad_attribution_kit_postback":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          adAttributionKitPostback = try VerifyAdAttributionKitPostbackResponse(reading: &reader)
          if skadnetworkPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil || adAttributionKitImpression != nil
            || error != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "appStoreSignedData", "app_store_signed_data":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          appStoreSignedData = try VerifyAppStoreSignedDataResponse(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil || error != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "skadnetworkImpression", "skadnetwork_impression":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          skadnetworkImpression = try VerifySKAdNetworkImpressionResponse(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || adAttributionKitImpression != nil
            || error != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "adAttributionKitImpression", "ad_attribution_kit_impression":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          adAttributionKitImpression = try VerifyAdAttributionKitImpressionResponse(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || error != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "error":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          error = try ItemError(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let skadnetworkPostback {
      writer.key("skadnetworkPostback")
      skadnetworkPostback.write(to: &writer)
    }
    if let adAttributionKitPostback {
      writer.key("adAttributionKitPostback")
      adAttributionKitPostback.write(to: &writer)
    }
    if let appStoreSignedData {
      writer.key("appStoreSignedData")
      appStoreSignedData.write(to: &writer)
    }
    if let skadnetworkImpression {
      writer.key("skadnetworkImpression")
      skadnetworkImpression.write(to: &writer)
    }
    if let adAttributionKitImpression {
      writer.key("adAttributionKitImpression")
      adAttributionKitImpression.write(to: &writer)
    }
    if let error {
      writer.key("error")
      error.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyBatchResponse: RPCMessage, Hashable {
  public var results: [VerifyResult]

  public init(
    results: [VerifyResult] = []
  ) {
    self.results = results
  }

  public init() {
    self.results = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "results":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          results = try reader.readList { (reader) throws(JSONError) in try VerifyResult(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !results.isEmpty {
      writer.key("results")
      writer.beginArray()
      for element in results { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct ExtractTransactionIdsRequest: RPCMessage, Hashable {
  /// Base64 of a PKCS#7 app receipt. Set exactly one of the three fields.
  public var appReceipt: String?
  /// Base64 of an old transaction receipt.
  public var transactionReceipt: String?
  /// verifyReceipt's JSON answer.
  public var verifyReceiptResponse: JSONObject?

  public init(
    appReceipt: String? = nil,
    transactionReceipt: String? = nil,
    verifyReceiptResponse: JSONObject? = nil
  ) {
    self.appReceipt = appReceipt
    self.transactionReceipt = transactionReceipt
    self.verifyReceiptResponse = verifyReceiptResponse
  }

  public init() {
    self.appReceipt = nil
    self.transactionReceipt = nil
    self.verifyReceiptResponse = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "appReceipt", "app_receipt":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          appReceipt = try reader.readString()
        case "transactionReceipt", "transaction_receipt":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          transactionReceipt = try reader.readString()
        case "verifyReceiptResponse", "verify_receipt_response":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          verifyReceiptResponse = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let appReceipt {
      writer.key("appReceipt")
      writer.string(appReceipt)
    }
    if let transactionReceipt {
      writer.key("transactionReceipt")
      writer.string(transactionReceipt)
    }
    if let verifyReceiptResponse {
      writer.key("verifyReceiptResponse")
      writer.object(verifyReceiptResponse)
    }
    writer.endObject()
  }
}

/// A transaction id and the place where it was found.
public struct FoundTransactionId: RPCMessage, Hashable {
  public var id: String
  /// originalTransactionId or transactionId.
  public var kind: String
  /// The receipt field or JSON path.
  public var location: String

  public init(
    id: String = "",
    kind: String = "",
    location: String = ""
  ) {
    self.id = id
    self.kind = kind
    self.location = location
  }

  public init() {
    self.id = ""
    self.kind = ""
    self.location = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          id = try reader.readString()
        case "kind":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "location":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          location = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !id.isEmpty {
      writer.key("id")
      writer.string(id)
    }
    if !kind.isEmpty {
      writer.key("kind")
      writer.string(kind)
    }
    if !location.isEmpty {
      writer.key("location")
      writer.string(location)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct ExtractTransactionIdsResponse: RPCMessage, Hashable {
  public var originalTransactionIds: [String]
  public var transactionIds: [String]
  public var found: [FoundTransactionId]
  /// True if there are more ids than the limit; the answer has the first ones. Any one of them is enough to query Apple about the customer.
  public var truncated: Bool

  public init(
    originalTransactionIds: [String] = [],
    transactionIds: [String] = [],
    found: [FoundTransactionId] = [],
    truncated: Bool = false
  ) {
    self.originalTransactionIds = originalTransactionIds
    self.transactionIds = transactionIds
    self.found = found
    self.truncated = truncated
  }

  public init() {
    self.originalTransactionIds = []
    self.transactionIds = []
    self.found = []
    self.truncated = false
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "originalTransactionIds", "original_transaction_ids":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          originalTransactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "transactionIds", "transaction_ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          transactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "found":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          found = try reader.readList { (reader) throws(JSONError) in try FoundTransactionId(reading: &reader) }
        case "truncated":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          truncated = try reader.readBool()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !originalTransactionIds.isEmpty {
      writer.key("originalTransactionIds")
      writer.beginArray()
      for element in originalTransactionIds { writer.string(element) }
      writer.endArray()
    }
    if !transactionIds.isEmpty {
      writer.key("transactionIds")
      writer.beginArray()
      for element in transactionIds { writer.string(element) }
      writer.endArray()
    }
    if !found.isEmpty {
      writer.key("found")
      writer.beginArray()
      for element in found { element.write(to: &writer) }
      writer.endArray()
    }
    if truncated {
      writer.key("truncated")
      writer.bool(truncated)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct DecodeExternalPurchaseTokenRequest: RPCMessage, Hashable {
  /// The token, unchanged: a JSON object in Base64URL.
  public var token: String?

  public init(
    token: String? = nil
  ) {
    self.token = token
  }

  public init() {
    self.token = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "token":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          token = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let token {
      writer.key("token")
      writer.string(token)
    }
    writer.endObject()
  }
}
