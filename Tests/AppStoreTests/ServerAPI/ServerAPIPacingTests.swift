import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import AppStore

@Suite("Pacing of the App Store Server API")
struct ServerAPIPacingTests {
  @Test("no hour has more requests than Apple allows", arguments: AppStoreServerEndpoint.allCases)
  func budget(endpoint: AppStoreServerEndpoint) {
    for server in [AppStoreServer.production, .sandbox] {
      let budget = AppStoreRateBudget(endpoint, server: server)
      let allowed = endpoint.requestsPerSecond * (server == .production ? 1 : 0.1) * 3600
      #expect(Double(budget.burst) + budget.perSecond * 3600 <= allowed + 0.001)
      #expect(Double(budget.burst) + budget.perSecond * 3600 >= allowed * 0.99)
    }
    #expect(AppStoreRateBudget(.getNotificationHistory, server: .production).burst == 18_000)
    #expect(AppStoreRateBudget(.getNotificationHistory, server: .production, rate: 10).burst == 3600)
    #expect(AppStoreRateBudget(.getNotificationHistory, server: .production, rate: 0.001).burst == 1)
  }

  @Test(
    "the limits are those of Apple's table, requests per second of an app in production",
    arguments: [
      (50, [.getTransactionInfo, .getTransactionHistory, .getAppTransactionInfo, .getAllSubscriptionStatuses, .finishTransaction]),
      (50, [.sendConsumptionInformation, .sendConsumptionInformationV1, .getNotificationHistory]),
      (20, [.setAppAccountToken, .extendRenewalDate]), (10, [.lookUpOrderID, .getRefundHistory]),
      (1, [.extendRenewalDatesForAll, .getRenewalDateExtensionStatus, .requestTestNotification, .getTestNotificationStatus]),
    ] as [(Double, [AppStoreServerEndpoint])])
  func limits(_ perSecond: Double, _ endpoints: [AppStoreServerEndpoint]) {
    for endpoint in endpoints { #expect(endpoint.requestsPerSecond == perSecond, "\(endpoint)") }
  }

  /// Permits all calls and records their results, or refuses.
  private final class Witness: AppStoreServerPacing {
    let results = Mutex<[AppStoreServerPermit.Result]>([])
    let refusals: Mutex<[AppStoreServerAPIError]>

    init(refusals: [AppStoreServerAPIError] = []) { self.refusals = Mutex(refusals) }

    func permit(
      _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer, deadline: ContinuousClock.Instant
    ) async throws(AppStoreServerAPIError) -> AppStoreServerPermit {
      if let refusal = refusals.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw refusal }
      return AppStoreServerPermit { result in self.results.withLock { $0.append(result) } }
    }
  }

  /// By default no server listens on the port.
  private func client(
    _ pacing: Witness, port: UInt16 = 9, timeout: Duration = .seconds(30), tokenFails: Bool = false
  ) -> AppStoreServerAPIClient {
    var quick = AppStoreServerRetryRule()
    quick.base = 1
    return AppStoreServerAPIClient(
      http: HTTPClient(), baseURLs: [.production: "http://127.0.0.1:\(port)"], retryRule: quick, timeout: timeout, pacing: pacing
    ) { (_, server, key, _, _) throws(AppStoreServerAPIError) in
      if tokenFails { throw AppStoreServerAPIError(.configuration, message: "no key", server: server) }
      return key == .first ? "token" : nil
    }
  }

  @Test("each attempt to reach an unreachable server is reported as a failure")
  func failed() async {
    let witness = Witness()
    await #expect(throws: AppStoreServerAPIError.self) {
      try await client(witness).call(
        .getTransactionInfo, bundleId: "a", server: .production, path: ["1"], deadline: .now + .seconds(600))
    }
    let results = witness.results.withLock { $0 }
    #expect(!results.isEmpty && results.allSatisfy { $0 == .failed })
  }

  @Test("a caller's short timeout is not Apple's failure, but a slow answer is")
  func hurried() async throws {
    let silent = SmallServer { _ in .silence }
    defer { silent.stop() }
    let hurried = Witness()
    await #expect(throws: AppStoreServerAPIError.self) {
      try await client(hurried, port: silent.port).call(
        .getTransactionInfo, bundleId: "a", server: .production, path: ["1"], deadline: .now + .milliseconds(200))
    }
    // The rest of the last millisecond may be enough for another attempt.
    let results = hurried.results.withLock { $0 }
    #expect(!results.isEmpty && results.allSatisfy { $0 == .abandoned })
    let patient = Witness()
    await #expect(throws: AppStoreServerAPIError.self) {
      try await client(patient, port: silent.port, timeout: .milliseconds(50)).call(
        .getTransactionInfo, bundleId: "a", server: .production, path: ["1"], deadline: .now + .seconds(600))
    }
    #expect(patient.results.withLock { $0 } == [.failed, .failed, .failed])
  }

  @Test("without a permit nothing is sent, and without a token no permit is requested")
  func refused() async {
    let refusal = AppStoreServerAPIError(.server, message: "left alone", server: .production)
    await #expect(throws: refusal) {
      try await client(Witness(refusals: [refusal])).call(
        .setAppAccountToken, bundleId: "a", server: .production, path: ["1"], deadline: .now + .seconds(1))
    }
    let witness = Witness()
    await #expect(throws: AppStoreServerAPIError.self) {
      try await client(witness, tokenFails: true).call(
        .getTransactionInfo, bundleId: "a", server: .production, path: ["1"], deadline: .now + .seconds(1))
    }
    #expect(witness.results.withLock { $0.isEmpty })
  }

  @Test("a refusal by our own limit affects one request, and Apple's 429 stops all calls of the app to the endpoint")
  func whoIsStopped() async {
    let farAway: Int64 = 4_000_000_000_000
    func second(after first: AppStoreServerAPIError) async -> (error: AppStoreServerAPIError?, sent: Bool) {
      let witness = Witness(refusals: [first])
      let client = client(witness)
      func ask() async throws(AppStoreServerAPIError) {
        _ = try await client.call(
          .setAppAccountToken, bundleId: "a", server: .production, path: ["1"], deadline: .now + .seconds(600))
      }
      await #expect(throws: first) { try await ask() }
      do throws(AppStoreServerAPIError) { try await ask() } catch {
        return (error, !witness.results.withLock { $0.isEmpty })
      }
      return (nil, true)
    }
    let own = await second(after: AppStoreServerAPIError(.rate, message: "our own limit", retryAt: farAway, server: .production))
    #expect(own.sent && own.error?.classification == .server)
    let apples = await second(
      after: AppStoreServerAPIError(.rate, status: 429, errorCode: 4_290_000, message: "later", retryAt: farAway, server: .production))
    #expect(!apples.sent && apples.error?.classification == .rate && apples.error?.retryAt == farAway)
  }
}
