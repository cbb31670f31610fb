import WireJSON

/// Checks whether the App Store could use an answer (*RealtimeResponseBody*, *message*, *alternateProduct*, *promotionalOffer*,
/// *advancedCommerceInfo*). Each function returns a text for each problem, which begins with the name of the field.
struct RealtimeAnswerCheck: Sendable {
  private static let plans: Set = ["BILLED_UPFRONT", "MONTHLY"]
  /// The milliseconds for which the signature of an offer is valid.
  private static let offerLifetime: Int64 = 86_400_000

  /// The payload of the request that is answered.
  let request: JSONObject
  let app: SimulatedApp
  let apps: AppRegistry
  let setup: RetentionSetup
  let now: Int64

  func problems(status: Int, contentType: String?, body: [UInt8]) -> [String] {
    guard status == 200 else { return ["status: \(status)"] }
    var found: [String] = []
    let type = contentType?.lowercased() ?? ""
    if !type.hasPrefix("application/json") { found.append("Content-Type: not application/json") }
    if type.contains("charset="), !type.contains("utf-8") { found.append("Content-Type: not UTF-8") }
    guard let answer = (try? JSONValue(parsing: body))?.objectValue else { return found + ["body: not a JSON object"] }
    if answer.members.count > 1 {
      found.append("body: must have only one of message, alternateProduct, promotionalOffer and advancedCommerceInfo")
    }
    for member in answer.members {
      guard let value = member.value.objectValue else {
        found.append("\(member.key): not an object")
        continue
      }
      found += identifier(value["messageIdentifier"], "\(member.key).messageIdentifier")
      if let id = value["messageIdentifier"]?.stringValue,
        let reason = setup.reasonAgainst(
          id, in: member.key, bundleID: app.bundleID, environment: request["environment"]?.stringValue ?? "")
      {
        found.append("\(member.key).messageIdentifier: \(reason)")
      }
      switch member.key {
      case "message": found += unknown(value, ["messageIdentifier"], member.key)
      case "alternateProduct": found += alternateProduct(value)
      case "promotionalOffer": found += promotionalOffer(value)
      case "advancedCommerceInfo": found += advancedCommerce(value)
      default: found.append("\(member.key): unknown")
      }
    }
    return found
  }

  private func alternateProduct(_ value: JSONObject) -> [String] {
    var found = unknown(value, ["messageIdentifier", "productId", "billingPlanType"], "alternateProduct")
    if value["productId"]?.stringValue?.isEmpty ?? true { found.append("alternateProduct.productId: missing") }
    if let plan = value["billingPlanType"], !(plan.stringValue.map(Self.plans.contains) ?? false) {
      found.append("alternateProduct.billingPlanType: unknown")
    }
    return found
  }

  private func promotionalOffer(_ value: JSONObject) -> [String] {
    let names = ["messageIdentifier", "promotionalOfferSignatureV1", "promotionalOfferSignatureV2"]
    var found = unknown(value, Set(names), "promotionalOffer")
    switch (value["promotionalOfferSignatureV1"], value["promotionalOfferSignatureV2"]) {
    case (nil, let jws?):
      guard let jws = jws.stringValue else { return found + ["promotionalOfferSignatureV2: not a string"] }
      found += token(jws, audience: "promotional-offer", "promotionalOfferSignatureV2") { claims in
        var found: [String] = []
        for name in ["productId", "offerIdentifier"] where claims[name]?.stringValue?.isEmpty ?? true {
          found.append("promotionalOfferSignatureV2.\(name): missing")
        }
        if claims["transactionId"]?.stringValue != request["originalTransactionId"]?.stringValue {
          found.append("promotionalOfferSignatureV2.transactionId: not the customer's original transaction")
        }
        return found
      }
    case (let signature?, nil):
      guard let signature = signature.objectValue else { return found + ["promotionalOfferSignatureV1: not an object"] }
      found += originalSignature(signature)
    case (nil, nil): found.append("promotionalOffer: no signature")
    case (_?, _?): found.append("promotionalOffer: two signatures")
    }
    return found
  }

  /// Checks a signature in the original format.
  private func originalSignature(_ value: JSONObject) -> [String] {
    let field = "promotionalOfferSignatureV1"
    var found = unknown(
      value, ["encodedSignature", "productId", "nonce", "timestamp", "keyId", "offerIdentifier", "appAccountToken"], field)
    for name in ["productId", "keyId", "offerIdentifier"] where value[name]?.stringValue?.isEmpty ?? true {
      found.append("\(field).\(name): missing")
    }
    for name in ["nonce", "appAccountToken"] {
      guard let given = value[name] else {
        if name == "nonce" { found.append("\(field).nonce: missing") }
        continue
      }
      if given.stringValue != given.stringValue?.lowercased() { found.append("\(field).\(name): not in lower case") }
      found += identifier(given, "\(field).\(name)")
    }
    let timestamp = value["timestamp"]?.int64Value
    if timestamp.map({ abs(now - $0) > Self.offerLifetime }) ?? true { found.append("\(field).timestamp: not within a day") }
    guard let signature = value["encodedSignature"]?.stringValue.flatMap({ Base64Text.decode($0) }), !signature.isEmpty else {
      return found + ["\(field).encodedSignature: not Base64"]
    }
    if let id = value["keyId"]?.stringValue, let key = apps.key(id), let timestamp {
      let signedValues = [
        app.bundleID, id, value["productId"]?.stringValue ?? "", value["offerIdentifier"]?.stringValue ?? "",
        value["appAccountToken"]?.stringValue ?? "", value["nonce"]?.stringValue ?? "", String(timestamp),
      ]
      if !key.key.verifies(der: signature, of: Array(signedValues.joined(separator: "\u{2063}").utf8)) {
        found.append("\(field).encodedSignature: does not verify")
      }
    } else {
      found.append("\(field).keyId: not a key of the app")
    }
    return found
  }

  private func advancedCommerce(_ value: JSONObject) -> [String] {
    var found = unknown(value, ["messageIdentifier", "advancedCommerceData"], "advancedCommerceInfo")
    guard let bytes = value["advancedCommerceData"]?.stringValue.flatMap({ Base64Text.decode($0) }),
      let data = (try? JSONValue(parsing: bytes))?.objectValue, let jws = data["signatureInfo"]?["token"]?.stringValue
    else { return found + ["advancedCommerceData: not Base64 of a JSON object with signatureInfo.token"] }
    found += token(jws, audience: "advanced-commerce-api", "advancedCommerceData") { claims in
      guard let requestBytes = claims["request"]?.stringValue.flatMap({ Base64Text.decode($0) }),
        let object = (try? JSONValue(parsing: requestBytes))?.objectValue
      else { return ["advancedCommerceData.request: not Base64 of a JSON object"] }
      return AdvancedCommerceChangeCheck(transactionId: request["originalTransactionId"]?.stringValue).problems(in: object)
        + identifier(object["requestInfo"]?["requestReferenceId"], "advancedCommerceData.requestInfo.requestReferenceId")
    }
    return found
  }

  /// A JWS that an app's server signed (*Generating JWS to sign App Store requests*).
  ///
  /// - Parameter claimsCheck: finds the problems of the claims that only this kind of JWS has.
  private func token(_ jws: String, audience: String, _ field: String, _ claimsCheck: (JSONObject) -> [String]) -> [String] {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64Text.decodeURL(parts[2])
    else { return ["\(field): not a JWS"] }
    var found: [String] = []
    if header["alg"]?.stringValue != "ES256" { found.append("\(field): alg is not ES256") }
    if header["typ"]?.stringValue != "JWT" { found.append("\(field): typ is not JWT") }
    if let id = header["kid"]?.stringValue, let key = apps.key(id) {
      if !key.key.verifies(raw: signature, of: Array((parts[0] + "." + parts[1]).utf8)) { found.append("\(field): does not verify") }
    } else {
      found.append("\(field): kid is not a key of the app")
    }
    if claims["aud"]?.stringValue != audience { found.append("\(field).aud: not \(audience)") }
    if claims["bid"]?.stringValue != app.bundleID { found.append("\(field).bid: another app's") }
    if claims["iss"]?.stringValue?.isEmpty ?? true { found.append("\(field).iss: missing") }
    if claims["exp"] != nil { found.append("\(field).exp: must be absent") }
    found += identifier(claims["nonce"], "\(field).nonce")
    let issued = claims["iat"]?.int64Value
    if issued.map({ abs(now / 1000 - $0) > Self.offerLifetime / 1000 }) ?? true {
      found.append("\(field).iat: not within a day of now, in seconds")
    }
    return found + claimsCheck(claims)
  }

  /// The problem of a value that must be a UUID, if there is one.
  private func identifier(_ value: JSONValue?, _ field: String) -> [String] {
    guard let text = value?.stringValue else { return ["\(field): missing"] }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let isUUID =
      parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && text.utf8.allSatisfy { $0 == 45 || (48...57).contains($0) || (97...102).contains($0 | 0x20) }
    return isUUID ? [] : ["\(field): not a UUID"]
  }

  /// A problem for each member that Apple does not document.
  private func unknown(_ value: JSONObject, _ known: Set<String>, _ field: String) -> [String] {
    value.keys.filter { !known.contains($0) }.map { "\(field).\($0): unknown" }
  }

  private static func object(_ part: String) -> JSONObject? {
    guard let bytes = Base64Text.decodeURL(part) else { return nil }
    return (try? JSONValue(parsing: bytes))?.objectValue
  }
}
