import AppStore
import AppleAttribution
import AttributionProtocol
import Cryptography
import Foundation
import PublicSuffixes
import WireJSON

/// A parser of untrusted bytes: no input may crash it, block it, or make it leak.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case json, skadnetwork, adattributionkit, jws, chain, notification, receipt, verifyReceipt, ocsp, consent, adServicesRecord
  case externalPurchaseToken, payload, publicSuffix, retention

  private static let postbacks = PostbackVerifier(keys: .published)
  private static let signedData = SignedDataVerifier(
    chains: CertificateChainVerifier(roots: [AppleRootCertificates.g3], strict: true),
    apps: [KnownApp(bundleId: "com.example", appAppleId: 1, environments: ["Production", "Sandbox"])])
  /// Accepts unsigned data of Xcode, so that the code after the verification is reached.
  private static let unsignedData = SignedDataVerifier(
    chains: CertificateChainVerifier(roots: [AppleRootCertificates.g3], strict: true),
    apps: [KnownApp(bundleId: "com.example", appAppleId: 1, environments: ["Xcode"])], acceptsXcodeData: true)
  private static let filter = ConsentFilter()
  /// A fixed time, so that runs can be repeated.
  private static let now: Int64 = 1_790_000_000_000

  /// Parses the bytes. Besides crashes, it checks conditions that hold for every input.
  public func feed(_ bytes: [UInt8]) {
    switch self {
    case .json:
      guard let value = try? JSONValue(parsing: bytes) else { return }
      // A value that was parsed and written again is equal.
      guard let again = try? JSONValue(parsing: value.serialized), again == value else { fatalError("not the same again") }
    case .skadnetwork:
      let verdict = Self.postbacks.verdict(onSKAdNetwork: bytes, expecting: nil)
      precondition(verdict.valid == (verdict.reason == nil), "a verdict has a reason or none")
      guard let postback = verdict.postback else { return }
      var writer = JSONWriter()
      postback.writeTyped(to: &writer, foreign: [])
      precondition(writer.bytes == JSONValue.object(postback.typed(foreign: [])).serialized, "an event shows the typed postback")
      precondition(postback.unsigned.unusable.allSatisfy { postback.unsigned.received[$0] != nil }, "what cannot be used came")
    case .adattributionkit:
      let verdict = Self.postbacks.verdict(onAdAttributionKit: bytes, expecting: nil)
      precondition(verdict.valid == (verdict.reason == nil), "a verdict has a reason or none")
    case .jws: _ = try? CompactJWS(String(decoding: bytes, as: UTF8.self))
    case .chain:
      // Leaf and intermediate, separated by a zero byte.
      let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Base64.encode(Array($0)) }
      guard parts.count == 2 else { return }
      let chains = CertificateChainVerifier(roots: [AppleRootCertificates.g3], strict: true)
      _ = try? chains.verifiedChain(x5c: [parts[0], parts[1], ""], at: Self.now / 1000)
      _ = try? Certificate(derOrPEM: bytes)
    case .notification:
      let text = String(decoding: bytes, as: UTF8.self)
      let verdict = Self.signedData.verdict(on: text, kind: .notification, now: Self.now)
      precondition(verdict.valid == (verdict.reason == nil), "a verdict has a reason or none")
      _ = NotificationSniffer(signedPayload: text)
      // The bytes as a payload, because a fuzzer does not produce Base64 of JSON.
      let token = ["{}", String(decoding: bytes, as: UTF8.self), ""].map { Base64.encodeURL(Array($0.utf8)) }.joined(separator: ".")
      for kind in SignedDataKind.allCases {
        let verdict = Self.unsignedData.verdict(on: token, kind: kind, now: Self.now)
        precondition(verdict.valid == (verdict.reason == nil), "a verdict has a reason or none")
      }
    case .retention:
      if let body = try? RealtimeRequestBody(parsing: bytes) {
        let verdict = Self.signedData.verdict(on: body.signedPayload, kind: .realtimeRequest, now: Self.now)
        precondition(verdict.valid == (verdict.reason == nil), "a verdict has a reason or none")
      }
      // The bytes as a verified payload.
      guard let object = try? JSONValue(parsing: bytes).objectValue else { return }
      if let answer = RealtimeAnswer(json: object) { precondition(RealtimeAnswer(json: answer.json) == answer, "not the same again") }
      guard let request = try? RealtimeRequest(validating: object, receivedAt: Self.now) else { return }
      precondition(request.requestIdentifier.utf8.count == 36, "a UUID")
      precondition(
        (request.locale?.selfAndPrefixes ?? []).allSatisfy { request.locale?.isWithin($0) == true }, "a locale is within what it narrows")
    case .receipt:
      let text = String(decoding: bytes, as: UTF8.self)
      _ = try? TransactionIdExtractor().appReceipt(text)
      _ = try? TransactionIdExtractor().appReceipt(Base64.encode(bytes))
      _ = try? TransactionIdExtractor().transactionReceipt(text)
    case .verifyReceipt:
      guard let object = try? JSONValue(parsing: bytes).objectValue else { return }
      _ = TransactionIdExtractor().verifyReceiptResponse(object)
    case .ocsp:
      _ = try? OCSPResponse(
        verifying: bytes, certificate: AppleRootCertificates.g3, issuer: AppleRootCertificates.g3, at: Self.now / 1000)
    case .consent:
      guard let object = try? JSONValue(parsing: bytes).objectValue else { return }
      let filtered = Self.filter.filter(object, consent: false)
      precondition(Self.filter.filter(filtered.payload, consent: false).payload == filtered.payload, "filtered is filtered")
    case .adServicesRecord:
      guard let object = try? JSONValue(parsing: bytes).objectValue else { return }
      _ = try? AppleAttribution.AttributionRecord(object)
    case .externalPurchaseToken:
      // The bytes as they are, and as the object in a token.
      for text in [String(decoding: bytes, as: UTF8.self), Base64.encodeURL(bytes)] {
        guard let token = try? ExternalPurchaseToken(decoding: text) else { continue }
        precondition(!token.id.isEmpty, "a token has an id")
        precondition((try? ExternalPurchaseToken(token.object)) == token, "the same again")
      }
    case .payload:
      guard let object = try? JSONValue(parsing: bytes).objectValue else { return }
      // Nothing of an object is lost, whatever types its members have.
      precondition(NotificationPayload(object).object == object, "a notification is carried whole")
      precondition(TransactionPayload(object).object == object, "a transaction is carried whole")
      precondition(RenewalPayload(object).object == object, "a renewal is carried whole")
      precondition(AppTransactionPayload(object).object == object, "an app transaction is carried whole")
      precondition(AdAttributionKitPostbackPayload(object).object == object, "a postback is carried whole")
      precondition(SKAdNetworkPostbackPayload(object).object == object, "a postback is carried whole")
    case .publicSuffix:
      let host = String(decoding: bytes, as: UTF8.self)
      guard let domain = PublicSuffixList.builtIn?.registrableDomain(of: host) else { return }
      precondition(host == domain || host.hasSuffix("." + domain), "a registrable domain is the end of the name")
    }
  }
}
