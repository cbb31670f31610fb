import Cryptography
import Foundation
import Testing
import WireJSON

@testable import AppStore

/// Data that the App Store signed, and that lacks members or has new ones.
@Suite("Signed data that lacks or adds a member")
struct MissingMemberTests {
  static let now = Int64(Date().timeIntervalSince1970 * 1000)
  static let app = KnownApp(
    bundleId: SimulatedAppStore.bundleId, appAppleId: SimulatedAppStore.appAppleId, environments: ["Production", "Sandbox"])
  static let other = KnownApp(bundleId: "com.example.other", appAppleId: 42, environments: ["Production", "Sandbox"])

  static func verifier() throws -> SignedDataVerifier {
    let root = try Certificate(der: try #require(SimulatedAppStore.shared).root)
    return SignedDataVerifier(chains: CertificateChainVerifier(roots: [root]), apps: [other, app])
  }

  static func sign(_ payload: JSONObject) throws -> JSONValue { .string(try #require(SimulatedAppStore.shared).sign(payload)) }

  static func verdict(
    _ payload: JSONObject, _ kind: SignedDataKind, _ expecting: SignedDataExpectation = .init()
  ) throws -> SignedDataVerdict {
    let text = try #require(SimulatedAppStore.shared).sign(payload)
    let verdict = try verifier().verdict(on: text, kind: kind, expecting: expecting, now: now)
    #expect(verdict.valid == (verdict.reason == nil) && verdict.payload == payload)
    return verdict
  }

  private static let expected = SignedDataExpectation(bundleId: SimulatedAppStore.bundleId)
  private static let trusted = SignedDataExpectation(bundleId: SimulatedAppStore.bundleId, trustedSource: true)

  // MARK: The app

  @Test(
    "a transaction that names no app has its own reason, unless the caller trusts its source",
    arguments: [nil, .null, "", 5, ["com.example.app"]] as [JSONValue?])
  func namelessTransaction(bundleId: JSONValue?) throws {
    let payload = SimulatedAppStore.transaction(at: Self.now).with("bundleId", bundleId)
    for expecting in [SignedDataExpectation(), Self.expected, SignedDataExpectation(appAppleId: Self.app.appAppleId)] {
      #expect(try Self.verdict(payload, .transaction, expecting).reason == .appNotNamed)
    }
    let valid = try Self.verdict(payload, .transaction, Self.trusted)
    #expect(valid.valid && valid.bundleId == Self.app.bundleId && valid.environment == "Production")
    let byId = try Self.verdict(payload, .transaction, SignedDataExpectation(appAppleId: Self.app.appAppleId, trustedSource: true))
    #expect(byId.valid && byId.bundleId == Self.app.bundleId)
  }

  @Test("a trusted source tells no app if the caller names none, and a required app must be configured")
  func trustedSource() throws {
    let payload = SimulatedAppStore.transaction(at: Self.now).with("bundleId", nil)
    #expect(try Self.verdict(payload, .transaction, SignedDataExpectation(trustedSource: true)).reason == .appNotNamed)
    #expect(try Self.verdict(payload, .transaction, SignedDataExpectation(appAppleId: 7, trustedSource: true)).reason == .appNotNamed)
    let unknown = SignedDataExpectation(bundleId: "com.example.unknown", trustedSource: true)
    #expect(try Self.verdict(payload, .transaction, unknown).valid)
    let required = SignedDataExpectation(bundleId: "com.example.unknown", requiresKnownApp: true, trustedSource: true)
    #expect(try Self.verdict(payload, .transaction, required).reason == .wrongApp)
    // The caller's word does not count against the data.
    let other = SimulatedAppStore.transaction(at: Self.now).with("bundleId", "com.example.other")
    #expect(try Self.verdict(other, .transaction, Self.trusted).reason == .wrongApp)
    var production = Self.trusted
    production.environment = "Production"
    #expect(try Self.verdict(payload.with("environment", "Sandbox"), .transaction, production).reason == .wrongEnvironment)
  }

  @Test("an app transaction is told by its bundle id or its Apple id, or has its own reason", arguments: ["Production", "Sandbox"])
  func appTransaction(environment: String) throws {
    let payload = SimulatedAppStore.appTransaction(at: Self.now, environment: environment)
    for missing in ["bundleId", "appAppleId", "receiptCreationDate", "applicationVersion"] {
      for expecting in [SignedDataExpectation(), Self.expected] {
        let verdict = try Self.verdict(payload.with(missing, nil), .appTransaction, expecting)
        #expect(verdict.valid && verdict.bundleId == Self.app.bundleId, "\(missing)")
      }
    }
    let nameless = payload.with("bundleId", nil).with("appAppleId", nil)
    #expect(try Self.verdict(nameless, .appTransaction, Self.expected).reason == .appNotNamed)
    #expect(try Self.verdict(nameless, .appTransaction, Self.trusted).valid)
    #expect(try Self.verdict(payload.with("bundleId", nil).with("appAppleId", 7), .appTransaction, Self.trusted).reason == .wrongApp)
    let strange = try Self.verdict(payload.with("bundleId", nil).with("appAppleId", 42), .appTransaction, Self.expected)
    #expect(strange.reason == .wrongApp)
  }

  @Test("a realtime request of production names its app by its Apple id alone")
  func realtimeRequest() throws {
    let payload = SimulatedAppStore.realtimeRequest(at: Self.now)
    let nameless = payload.with("appAppleId", nil)
    #expect(try Self.verdict(nameless, .realtimeRequest, Self.expected).reason == .appNotNamed)
    #expect(try Self.verdict(nameless, .realtimeRequest, Self.trusted).valid)
    #expect(try Self.verdict(nameless.with("environment", "Sandbox"), .realtimeRequest, Self.expected).valid)
    for missing in ["originalTransactionId", "productId", "userLocale", "requestIdentifier", "signedDate"] {
      #expect(try Self.verdict(payload.with(missing, nil), .realtimeRequest, Self.expected).valid, "\(missing)")
    }
    #expect(try Self.verdict(payload.with("appAppleId", 42), .realtimeRequest, Self.trusted).reason == .wrongApp)
  }

  // MARK: The environment, dates and other members

  @Test(
    "an environment that is missing is that which the caller expects",
    arguments: [SignedDataKind.transaction, .renewalInfo, .appTransaction, .realtimeRequest])
  func environment(kind: SignedDataKind) throws {
    let name = kind == .appTransaction ? "receiptType" : "environment"
    let payload = Self.payload(kind).with(name, nil)
    for environment in ["Production", "Sandbox"] {
      var expecting = Self.expected
      expecting.environment = environment
      let verdict = try Self.verdict(payload, kind, expecting)
      #expect(verdict.valid && verdict.environment == environment)
    }
    #expect(try Self.verdict(payload, kind, Self.expected).reason == .wrongEnvironment)
    #expect(try Self.verdict(payload.with(name, 5), kind, Self.expected).reason == .wrongEnvironment)
    #expect(try Self.verdict(payload.with(name, "Elsewhere"), kind, Self.expected).reason == .wrongEnvironment)
  }

  @Test(
    "a member that says nothing about the app may be missing, of another type, or new",
    arguments: [SignedDataKind.transaction, .renewalInfo, .appTransaction])
  func others(kind: SignedDataKind) throws {
    let payload = Self.payload(kind)
    for name in payload.keys where !["bundleId", "environment", "receiptType"].contains(name) {
      for value in [nil, .null, [], ["a": 1], true] as [JSONValue?] {
        #expect(try Self.verdict(payload.with(name, value), kind, Self.expected).valid, "\(name)")
      }
    }
    #expect(try Self.verdict(payload.with("bundleTransactionId", ["deep": [1, 2]]), kind, Self.expected).valid)
  }

  @Test("data of another kind does not pass as this kind because its members are missing")
  func otherKinds() throws {
    var expecting = Self.trusted
    expecting.environment = "Production"
    for (kind, others) in [
      (SignedDataKind.transaction, [SignedDataKind.appTransaction, .renewalInfo, .realtimeRequest]),
      (.appTransaction, [.transaction, .renewalInfo, .realtimeRequest]),
      (.renewalInfo, [.transaction, .appTransaction, .realtimeRequest]),
      (.realtimeRequest, [.transaction, .appTransaction, .renewalInfo]),
      (.notification, [.transaction, .renewalInfo, .appTransaction, .realtimeRequest]),
    ] {
      for other in others { #expect(try Self.verdict(Self.payload(other), kind, expecting).reason == .malformed, "\(other) as \(kind)") }
    }
  }

  @Test("a bundle id counts also in data for which Apple documents none", arguments: [SignedDataKind.renewalInfo, .realtimeRequest])
  func undocumentedBundleId(kind: SignedDataKind) throws {
    for environment in ["Production", "Sandbox"] {
      let payload = Self.payload(kind, environment: environment)
      for expecting in [SignedDataExpectation(), Self.expected, Self.trusted] {
        #expect(try Self.verdict(payload.with("bundleId", .string(Self.app.bundleId)), kind, expecting).valid)
        let isKnown = expecting.bundleId == nil && kind == .renewalInfo
        // Without an expected app, that of another configured one is right.
        let other = try Self.verdict(payload.with("bundleId", .string(Self.other.bundleId)), kind, expecting)
        if isKnown { #expect(other.valid && other.bundleId == Self.other.bundleId) }
        if expecting.bundleId != nil { #expect(other.reason == .wrongApp) }
        #expect(try Self.verdict(payload.with("bundleId", "com.example.stranger"), kind, expecting).reason == .wrongApp)
      }
    }
  }

  static func payload(_ kind: SignedDataKind, environment: String = "Production") -> JSONObject {
    switch kind {
    case .notification: SimulatedAppStore.notification(at: now, environment: environment)
    case .transaction: SimulatedAppStore.transaction(at: now, environment: environment)
    case .renewalInfo: SimulatedAppStore.renewalInfo(at: now, environment: environment)
    case .appTransaction: SimulatedAppStore.appTransaction(at: now, environment: environment)
    case .realtimeRequest: SimulatedAppStore.realtimeRequest(at: now, environment: environment)
    }
  }

  // MARK: Lengths

  @Test("a transaction of 100 kB is verified, alone and inside a notification; the limit is one for all JWS")
  func long() throws {
    let items = JSONValue.array(
      (0..<1000).map { ["SKU": .string("item-\($0)"), "description": .string(String(repeating: "x", count: 60))] })
    let payload = SimulatedAppStore.transaction(at: Self.now).with("advancedCommerceInfo", ["items": items])
    let jws = try #require(SimulatedAppStore.shared).sign(payload)
    #expect(jws.utf8.count > 100_000)
    #expect(try Self.verdict(payload, .transaction).valid)
    let notification = SimulatedAppStore.notification("METADATA_UPDATE", having: ["signedTransactionInfo": .string(jws)], at: Self.now)
    #expect(try Self.verdict(notification, .notification).transactionInfo == payload)
    let root = try Certificate(der: try #require(SimulatedAppStore.shared).root)
    for (limit, isValid) in [(jws.utf8.count, true), (jws.utf8.count - 1, false)] {
      let verifier = SignedDataVerifier(chains: CertificateChainVerifier(roots: [root]), apps: [Self.app], maxBytes: limit)
      #expect(verifier.verdict(on: jws, kind: .transaction, now: Self.now).valid == isValid)
      #expect(verifier.ofSignedData(of: [Self.app]).verdict(on: jws, kind: .transaction, now: Self.now).valid == isValid)
    }
  }
}
