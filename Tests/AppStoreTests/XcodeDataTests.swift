import Cryptography
import Testing
import WireJSON

@testable import AppStore

/// Unsigned data of Xcode and local testing, which is accepted only if it is configured.
@Suite("Data from Xcode")
struct XcodeDataTests {
  private static let bundle = "com.example.app"

  private func jws(_ payload: JSONObject) -> String {
    let header: JSONObject = ["alg": "none"]
    return [JSONValue.object(header).serialized, JSONValue.object(payload).serialized, [0]].map(Base64.encodeURL).joined(separator: ".")
  }

  private func notification(_ environment: String) -> String {
    let data: JSONObject = ["bundleId": .string(Self.bundle), "environment": .string(environment)]
    return jws(["notificationUUID": "6f5902ac-237f-4d8b-9a4f-2c7f0c5f6f11", "notificationType": "TEST", "data": .object(data)])
  }

  private func verdict(
    on text: String, _ kind: SignedDataKind = .notification, having environments: Set<String>?, switchedOn: Bool = true,
    expecting: SignedDataExpectation = SignedDataExpectation(requiresKnownApp: true)
  ) -> SignedDataVerdict {
    let apps = environments.map { [KnownApp(bundleId: Self.bundle, appAppleId: 1, environments: $0)] } ?? []
    let verifier = SignedDataVerifier(
      chains: CertificateChainVerifier(roots: [AppleRootCertificates.g3]), apps: apps, acceptsXcodeData: switchedOn)
    return verifier.verdict(on: text, kind: kind, expecting: expecting, now: 1_790_000_000_000)
  }

  @Test("a notification of an app is accepted if the app has that environment and the setting is on", arguments: ["Xcode", "LocalTesting"])
  func configured(environment: String) {
    let text = notification(environment)
    let taken = verdict(on: text, having: ["Production", environment])
    #expect(taken.valid && taken.environment == environment)
    #expect(verdict(on: text, having: ["Production", environment], switchedOn: false).reason == .unexpectedAlgorithm)
    #expect(verdict(on: text, having: ["Production", "Sandbox"]).reason == .unexpectedAlgorithm)
    #expect(!verdict(on: text, having: Set(["Xcode", "LocalTesting"]).subtracting([environment])).valid)
    #expect(!verdict(on: text, having: nil).valid)
  }

  @Test("a caller that expects the environment gets a verdict, but not for an app that is configured without it")
  func asked() {
    let asking = SignedDataExpectation(bundleId: Self.bundle, environment: "Xcode")
    #expect(verdict(on: notification("Xcode"), having: nil, expecting: asking).valid)
    #expect(verdict(on: notification("Xcode"), having: nil, switchedOn: false, expecting: asking).reason == .unexpectedAlgorithm)
    #expect(verdict(on: notification("LocalTesting"), having: nil, expecting: asking).reason == .unexpectedAlgorithm)
    #expect(verdict(on: notification("Xcode"), having: ["Xcode"], expecting: asking).valid)
    for expecting in [asking, SignedDataExpectation(environment: "Xcode")] {
      #expect(!verdict(on: notification("Xcode"), having: ["Production", "Sandbox"], expecting: expecting).valid)
    }
    let production = SignedDataExpectation(bundleId: Self.bundle, environment: "Production")
    #expect(verdict(on: notification("Xcode"), having: ["Production", "Xcode"], expecting: production).reason == .unexpectedAlgorithm)
  }

  @Test("data without an app is accepted if any app, or the expected one, has its environment")
  func nameless() {
    let renewal = jws(["environment": "Xcode", "originalTransactionId": "1"])
    #expect(verdict(on: renewal, .renewalInfo, having: ["Xcode"], expecting: .init()).valid)
    #expect(!verdict(on: renewal, .renewalInfo, having: ["Sandbox"], expecting: .init()).valid)
    #expect(!verdict(on: renewal, .renewalInfo, having: ["Xcode"], expecting: .init(bundleId: "com.example.other")).valid)
    #expect(verdict(on: renewal, .renewalInfo, having: ["Xcode"], expecting: .init(bundleId: Self.bundle)).valid)
  }

  @Test("nested data may be unsigned only if it has the same environment")
  func nested() {
    func carrying(_ inner: String) -> SignedDataVerdict {
      let transaction = jws(["bundleId": .string(Self.bundle), "environment": .string(inner), "transactionId": "1"])
      let data: JSONObject = [
        "bundleId": .string(Self.bundle), "environment": "Xcode", "signedTransactionInfo": .string(transaction),
      ]
      return verdict(
        on: jws(["notificationUUID": "6f5902ac-237f-4d8b-9a4f-2c7f0c5f6f11", "notificationType": "TEST", "data": .object(data)]),
        having: ["Xcode", "LocalTesting"])
    }
    #expect(carrying("Xcode").valid)
    #expect(carrying("LocalTesting").reason == .unexpectedAlgorithm)
    #expect(carrying("Sandbox").reason == .unexpectedAlgorithm)
  }
}
