import Cryptography
import Testing

@testable import AppStore

/// Verifies a genuine notification of `com.example.app` with different expected apps.
@Suite("The expected app of a notification")
struct ExpectedAppTests {
  private static let app = KnownApp(bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: ["Production", "Sandbox"])
  private static let other = KnownApp(bundleId: "com.example.other", appAppleId: 42, environments: ["Production", "Sandbox"])
  private static let production = "notification-renew-valid"
  private static let sandbox = "sandbox-notification-no-appAppleId"

  private func reason(_ id: String, apps: [KnownApp], expecting: SignedDataExpectation) throws -> SignedDataReason? {
    let vector = try #require(AppStoreVectors.signed.first { $0.id == id })
    let verifier = SignedDataVerifier(chains: try AppStoreVectors.chainVerifier(vector.inputs), apps: apps)
    let verdict = verifier.verdict(
      on: AppStoreVectors.text(vector.file), kind: .notification, expecting: expecting, now: 1_790_000_000_000)
    #expect(verdict.valid == (verdict.reason == nil))
    return verdict.reason
  }

  @Test("a notification of the expected and configured app is valid", arguments: [production, sandbox])
  func own(id: String) throws {
    for expected in [nil, "com.example.app"] {
      let expecting = SignedDataExpectation(bundleId: expected, requiresKnownApp: true)
      #expect(try reason(id, apps: [Self.other, Self.app], expecting: expecting) == nil)
    }
  }

  @Test("a notification of another app is rejected as wrong app, even if both apps are configured", arguments: [production, sandbox])
  func another(id: String) throws {
    for expected in ["com.example.other", "com.example.ap", "com.example.app ", "COM.EXAMPLE.APP", ""] {
      let expecting = SignedDataExpectation(bundleId: expected, requiresKnownApp: true)
      #expect(try reason(id, apps: [Self.other, Self.app], expecting: expecting) == .wrongApp)
    }
  }

  @Test("data of an unconfigured app has the reason wrong app, for any expected app", arguments: [production, sandbox])
  func unknown(id: String) throws {
    for expected in [nil, "com.example.app"] {
      #expect(try reason(id, apps: [Self.other], expecting: SignedDataExpectation(bundleId: expected, requiresKnownApp: true)) == .wrongApp)
    }
  }

  @Test("the app's Apple id is checked at the app's own URL too")
  func number() throws {
    let renumbered = KnownApp(bundleId: Self.app.bundleId, appAppleId: 42, environments: Self.app.environments)
    let expecting = SignedDataExpectation(bundleId: "com.example.app", requiresKnownApp: true)
    #expect(try reason(Self.production, apps: [renumbered], expecting: expecting) == .wrongApp)
  }
}
