import AppStore
import AppleAttribution
import Cryptography
import ServiceRuntime
import WireJSON

/// Verifies signed data with Apple's published keys and root certificate, which are built in. It does not use the network, so it does not
/// know whether a certificate was revoked.
struct OfflineVerifier: Sendable {
  /// The bundle id of the expected app; if it is nil, the bundle id in the data is accepted.
  var bundleId: String?
  /// The Apple id of the expected app; if it is nil, the Apple id in the data is accepted.
  var appAppleId: Int64?
  /// The expected environment, `Production` or `Sandbox`; if it is nil, both are accepted.
  var environment: String?
  /// True if data that names no app is accepted as that of the expected app.
  var trustedSource = false
  /// The public key of the ad network that signed an impression.
  var publicKey: PublicKey?
  /// True if SKAdNetwork postbacks signed with a development key are accepted.
  var acceptsDevelopment = false

  func verify(_ input: SignedInput) throws(CommandFailure) -> VerdictReport {
    switch input {
    case .skAdNetworkPostback(let body):
      let verdict = PostbackVerifier(acceptsDevelopmentSKAdNetwork: acceptsDevelopment).verdict(onSKAdNetwork: body)
      return VerdictReport(
        kind: input.name, valid: verdict.valid, reason: Self.reason(verdict.reason?.rawValue, verdict.explanation), field: verdict.field,
        environment: verdict.environment?.rawValue, keyId: verdict.keyId, content: verdict.postback?.typed(),
        unsigned: verdict.valid ? verdict.postback?.unsigned.received : nil,
        unusable: verdict.valid ? verdict.postback?.unsigned.unusable : nil)
    case .adAttributionKitPostback(let body):
      let verdict = PostbackVerifier().verdict(onAdAttributionKit: body)
      return VerdictReport(
        kind: input.name, valid: verdict.valid, reason: Self.reason(verdict.reason?.rawValue, verdict.explanation), field: verdict.field,
        environment: verdict.environment?.rawValue, keyId: verdict.keyId, content: verdict.postback?.typed(),
        unsigned: verdict.postback?.unsigned.received, unusable: verdict.postback?.unsigned.unusable)
    case .appStore(let jws, let kind): return appStore(jws, kind, input.name)
    case .skAdNetworkImpression(let object): return try impression(object, input.name)
    case .adAttributionKitImpression(let jws):
      guard let header = (try? CompactJWS(jws)).flatMap({ try? JSONValue(parsing: $0.header) }), let owner = header["kid"]?.stringValue
      else {
        return VerdictReport(kind: input.name, valid: false, reason: "malformed_jws", field: "kid")
      }
      let verdict = try impressions(owner).verdict(onAdAttributionKit: jws)
      return VerdictReport(
        kind: input.name, valid: verdict.valid, reason: Self.reason(verdict.reason?.rawValue, verdict.explanation), field: verdict.field,
        content: verdict.payload)
    case .appReceipt(let text):
      return try receipt(input.name) { () throws(TransactionIdExtractor.Failure) in try TransactionIdExtractor().appReceiptContents(text) }
    case .transactionReceipt(let text):
      return try receipt(input.name) { () throws(TransactionIdExtractor.Failure) in
        try TransactionIdExtractor().transactionReceiptContents(text)
      }
    case .verifyReceiptResponse(let object):
      return try receipt(input.name) { () throws(TransactionIdExtractor.Failure) in TransactionIdExtractor().verifyReceiptContents(object) }
    }
  }

  private func appStore(_ jws: String, _ kind: SignedDataKind, _ name: String) -> VerdictReport {
    // Without a configuration, the expected ids that no flag gives are taken from the data itself. So only the values of flags are checked.
    let claimed = Self.claimedApp(jws, kind)
    let app = KnownApp(
      bundleId: bundleId ?? claimed.bundleId ?? "", appAppleId: appAppleId ?? claimed.appAppleId,
      environments: environment.map { [$0] } ?? ["Production", "Sandbox"])
    let verifier = SignedDataVerifier(chains: CertificateChainVerifier(roots: [AppleRootCertificates.g3], strict: true), apps: [app])
    let verdict = verifier.verdict(
      on: jws, kind: kind,
      expecting: SignedDataExpectation(
        bundleId: app.bundleId.isEmpty ? nil : app.bundleId, appAppleId: app.appAppleId, environment: environment,
        trustedSource: trustedSource),
      now: WallClock.now())
    var content = verdict.payload
    for (name, part) in [
      ("transactionInfo", verdict.transactionInfo), ("renewalInfo", verdict.renewalInfo),
      ("appTransactionInfo", verdict.appTransactionInfo),
    ] {
      if let part { content?[name] = .object(part) }
    }
    return VerdictReport(
      kind: name, valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, environment: verdict.environment,
      remark: bundleId == nil
        ? "not checked: the app (use --bundle-id), and whether a certificate is revoked"
        : "not checked: whether a certificate is revoked",
      known: verdict.known, content: content)
  }

  /// The app that the data names, not verified.
  private static func claimedApp(_ jws: String, _ kind: SignedDataKind) -> (bundleId: String?, appAppleId: Int64?) {
    if kind == .notification {
      let found = NotificationSniffer(signedPayload: jws)
      return (found.bundleId, found.appAppleId)
    }
    let payload = (try? CompactJWS(jws)).flatMap { try? JSONValue(parsing: $0.payload).objectValue } ?? [:]
    return (payload["bundleId"]?.stringValue, payload["appAppleId"]?.int64Value)
  }

  private func impression(_ object: JSONObject, _ name: String) throws(CommandFailure) -> VerdictReport {
    // A number may be a string: the JSON format of Protocol Buffers writes 64-bit integers in this way.
    func number(_ name: String) -> Int64? { object[name]?.int64Value ?? object[name]?.stringValue.flatMap { Int64($0) } }
    let owner = object["adNetworkId"]?.stringValue ?? ""
    let parameters = SKAdNetworkImpression.Parameters(
      version: object["version"]?.stringValue, adNetworkId: owner, campaignId: number("campaignId"),
      sourceIdentifier: number("sourceIdentifier"), itunesItemId: number("itunesItemId"), sourceAppId: number("sourceAppId"),
      sourceDomain: object["sourceDomain"]?.stringValue, fidelityType: number("fidelityType"), nonce: object["nonce"]?.stringValue,
      timestamp: number("timestamp"))
    let verdict = try impressions(owner).verdict(onSKAdNetwork: parameters, signature: object["signature"]?.stringValue)
    return VerdictReport(
      kind: name, valid: verdict.valid, reason: Self.reason(verdict.reason?.rawValue, verdict.explanation), field: verdict.field,
      content: object)
  }

  private func impressions(_ owner: String) throws(CommandFailure) -> ImpressionVerifier {
    guard let publicKey else {
      throw CommandFailure(
        .usage, "an impression is signed with the ad network's own key: --public-key is required",
        advice: "Get the key with attributionctl keys show ID, or omit --offline: verifier has the key.")
    }
    return ImpressionVerifier(keys: [owner: [ImpressionVerifier.Key(id: "given", key: publicKey)]])
  }

  private func receipt(
    _ name: String, _ read: () throws(TransactionIdExtractor.Failure) -> TransactionIdExtractor.Contents
  ) throws(CommandFailure) -> VerdictReport {
    let contents: TransactionIdExtractor.Contents
    do throws(TransactionIdExtractor.Failure) { contents = try read() } catch {
      throw CommandFailure(.refusedInput, "the \(name) cannot be read: \(error)")
    }
    func ids(_ kind: TransactionIdExtractor.Found.Kind) -> [String] {
      var seen: Set<String> = []
      return contents.found.filter { $0.kind == kind && seen.insert($0.id).inserted }.map(\.id)
    }
    return .receipt(name, originals: ids(.originalTransactionId), others: ids(.transactionId) + ids(.appTransactionId))
  }

  /// A verdict's reason with its explanation, if it has one.
  static func reason(_ reason: String?, _ explanation: String?) -> String? {
    guard let reason else { return nil }
    return explanation.map { "\(reason): \($0)" } ?? reason
  }
}
