// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAdAttributionKitImpressionResponse: RPCMessage, Hashable {
  public var valid: Bool?
  public var reason: String?
  public var field: String?
  public var keyId: String?
  public var payload: JSONObject?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    keyId: String? = nil,
    payload: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.keyId = keyId
    self.payload = payload
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.keyId = nil
    self.payload = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "valid":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          valid = try reader.readBool()
        case "reason":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "field":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          field = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "payload":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let valid {
      writer.key("valid")
      writer.bool(valid)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let field {
      writer.key("field")
      writer.string(field)
    }
    if let keyId {
      writer.key("keyId")
      writer.string(keyId)
    }
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    writer.endObject()
  }
}

/// One item of one kind to verify.
public struct VerifyItem: RPCMessage, Hashable {
  public var skadnetworkPostback: VerifySKAdNetworkPostbackRequest?
  public var adAttributionKitPostback: VerifyAdAttributionKitPostbackRequest?
  public var appStoreSignedData: VerifyAppStoreSignedDataRequest?
  public var skadnetworkImpression: VerifySKAdNetworkImpressionRequest?
  public var adAttributionKitImpression: VerifyAdAttributionKitImpressionRequest?

  public init(
    skadnetworkPostback: VerifySKAdNetworkPostbackRequest? = nil,
    adAttributionKitPostback: VerifyAdAttributionKitPostbackRequest? = nil,
    appStoreSignedData: VerifyAppStoreSignedDataRequest? = nil,
    skadnetworkImpression: VerifySKAdNetworkImpressionRequest? = nil,
    adAttributionKitImpression: VerifyAdAttributionKitImpressionRequest? = nil
  ) {
    self.skadnetworkPostback = skadnetworkPostback
    self.adAttributionKitPostback = adAttributionKitPostback
    self.appStoreSignedData = appStoreSignedData
    self.skadnetworkImpression = skadnetworkImpression
    self.adAttributionKitImpression = adAttributionKitImpression
  }

  public init() {
    self.skadnetworkPostback = nil
    self.adAttributionKitPostback = nil
    self.appStoreSignedData = nil
    self.skadnetworkImpression = nil
    self.adAttributionKitImpression = nil
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
          skadnetworkPostback = try VerifySKAdNetworkPostbackRequest(reading: &reader)
          if adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "adAttributionKitPostback", "ad_attribution_kit_postback":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          adAttributionKitPostback = try VerifyAdAttributionKitPostbackRequest(reading: &reader)
          if skadnetworkPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil || adAttributionKitImpression != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "appStoreSignedData", "app_store_signed_data":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          appStoreSignedData = try VerifyAppStoreSignedDataRequest(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "skadnetworkImpression", "skadnetwork_impression":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          skadnetworkImpression = try VerifySKAdNetworkImpressionRequest(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "adAttributionKitImpression", "ad_attribution_kit_impression":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          adAttributionKitImpression = try VerifyAdAttributionKitImpressionRequest(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
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
    writer.endObject()
  }
}

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
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "adAttributionKitPostback", "ad_attribution_kit_postback":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          adAttributionKitPostback = try VerifyAdAttributionKitPostbackResponse(reading: &reader)
          if skadnetworkPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil || adAttributionKitImpression != nil
            || error != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "appStoreSignedData", "app_store_signed_data":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          appStoreSignedData = try VerifyAppStoreSignedDataResponse(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil || error != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "skadnetworkImpression", "skadnetwork_impression":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          skadnetworkImpression = try VerifySKAdNetworkImpressionResponse(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || adAttributionKitImpression != nil
            || error != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "adAttributionKitImpression", "ad_attribution_kit_impression":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          adAttributionKitImpression = try VerifyAdAttributionKitImpressionResponse(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || error != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "error":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          error = try ItemError(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
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
