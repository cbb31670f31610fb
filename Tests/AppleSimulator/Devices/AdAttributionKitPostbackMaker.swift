import WireJSON

/// Creates AdAttributionKit postbacks: a JWS and the unsigned values beside it (*Identifying the parameters in a postback*, *Verifying a
/// postback*).
public struct AdAttributionKitPostbackMaker: Sendable {
  let keys: DeviceKeys
  let random: SeededRandom

  public init(keys: DeviceKeys, random: SeededRandom) {
    self.keys = keys
    self.random = random
  }

  /// Creates a postback for a control request. Fields that the request does not set get generated values; the README lists their names.
  public func make(_ request: JSONObject) throws -> Postback {
    let environment = request["environment"]?.stringValue ?? "production"
    let kids = [
      "production": "apple-cas-identifier/0", "development": "apple-development-identifier/0",
      "settings": "apple-development-identifier/1",
    ]
    guard let usualKid = kids[environment] else { throw PostbackError("environment: production, development or settings") }
    let kid = request["kid"]?.stringValue ?? usualKid
    // A postback with an unknown kid is signed with the production key, so that only the kid is wrong.
    let key = keys.key(kid: kid) ?? keys.p256
    var claims = try claims(request, environment: environment)
    claims.merge(request["fields"]?.objectValue)
    // Devices write the slash in the kid as \/, so the header is not written by the JSON encoder.
    let header =
      #"{"alg":"ES256","kid":""# + kid.split(separator: "/", omittingEmptySubsequences: false).joined(separator: #"\/"#)
      + #""}"#
    let jws = try JWSSigner.compact(header: Array(header.utf8), payload: JSONValue.object(claims).serialized, key: key)
    let won = claims["did-win"]?.boolValue ?? true
    var body: JSONObject = ["jws-string": .string(jws)]
    body["ad-interaction-type"] = request["adInteractionType"] ?? "click"
    let window = claims["postback-sequence-index"]?.int64Value ?? 0
    if won {
      if let coarse = request["coarseConversionValue"] ?? usualCoarse(window) {
        body["coarse-conversion-value"] = coarse
      } else {
        body["conversion-value"] = request["conversionValue"] ?? .integer(random.integer(in: 0...63))
      }
    }
    body["country-code"] = request["countryCode"]
    body = JSONObject(body.members.filter { !$0.value.isNull })
    let variants = (request["variants"]?.arrayValue ?? []).map { variant in
      var changed = body
      changed.merge(variant.objectValue)
      return JSONValue.object(changed).serializedString
    }
    body.merge(request["unsigned"]?.objectValue)
    return Postback(
      body: JSONValue.object(body).serializedString, identifier: claims["postback-identifier"]?.stringValue ?? "",
      adNetworkID: claims["ad-network-identifier"]?.stringValue ?? "", won: won, variants: variants,
      // The signature: 64 bytes in Base64.
      protected: String(jws.suffix(86)))
  }

  private func claims(_ request: JSONObject, environment: String) throws -> JSONObject {
    let won = request["didWin"]?.boolValue ?? true
    let window = request["sequenceIndex"]?.int64Value ?? 0
    guard (0...2).contains(window) else { throw PostbackError("sequenceIndex: 0, 1 or 2") }
    guard won || window == 0 else { throw PostbackError("didWin: a lost conversion has the first postback only") }
    let conversion = request["conversionType"]?.stringValue ?? random.element(of: ["download", "redownload"])
    guard won || conversion != "re-engagement" else { throw PostbackError("didWin: a re-engagement always wins") }
    var claims = JSONObject()
    claims["postback-identifier"] = request["postbackId"] ?? .string(random.uuid().uppercased())
    let network = environment == "settings" ? "development.adattributionkit" : "example123.adattributionkit"
    claims["ad-network-identifier"] = request["adNetworkId"] ?? .string(network)
    claims["advertised-item-identifier"] = request["advertisedItemId"] ?? (environment == "settings" ? 0 : 525_463_029)
    if won, window == 0 {
      claims["publisher-item-identifier"] = request["publisherItemId"] ?? (environment == "production" ? 5_838_492 : 0)
    }
    claims["marketplace-identifier"] = request["marketplaceId"] ?? "com.apple.AppStore"
    claims["impression-type"] = request["impressionType"] ?? "app-impression"
    claims["source-identifier"] = request["sourceIdentifier"] ?? .string(window > 0 ? "39" : "5239")
    claims["conversion-type"] = .string(conversion)
    claims["did-win"] = .bool(won)
    claims["postback-sequence-index"] = .integer(window)
    return JSONObject(claims.members.filter { !$0.value.isNull })
  }
}
