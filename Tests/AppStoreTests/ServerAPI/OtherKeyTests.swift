import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import AppStore

/// Two keys of an app for the App Store Server API, of which Apple may accept only one.
@Suite struct OtherKeyTests {
  /// A value that closures share.
  private final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }
    func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result { state.withLock { change(&$0) } }
  }

  /// Gives a number of permits and refuses further ones.
  private final class Permits: AppStoreServerPacing {
    private let left: Mutex<Int>
    init(_ count: Int) { left = Mutex(count) }

    func permit(
      _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer, deadline: ContinuousClock.Instant
    ) async throws(AppStoreServerAPIError) -> AppStoreServerPermit {
      let isGiven = left.withLock { left in
        left -= 1
        return left >= 0
      }
      guard isGiven else { throw AppStoreServerAPIError(.rate, message: "our own limit", server: server) }
      return AppStoreServerPermit { _ in }
    }
  }

  /// Calls in a row, each with the statuses that Apple would answer by token. The token with which a call is repeated has a plus sign at its
  /// end; its status is that of the first one, unless it has its own.
  ///
  /// - Parameter token: makes the token of a key; nil if the app has no such key.
  /// - Returns: the results, `ok` or the error's classification; and the tokens of the requests that reached Apple.
  private func play(
    _ calls: [[String: Int]], of endpoint: AppStoreServerEndpoint = .getTransactionInfo, server: AppStoreServer? = .production,
    permits: Int = 100,
    token: @escaping @Sendable (AppStoreServerKey) throws(AppStoreServerAPIError) -> String? = { $0 == .first ? "first" : "other" }
  ) async -> (results: [String], requests: [String], refused: [AppStoreServerKey]) {
    let (requests, refused, current) = (Shared<[String]>([]), Shared<[AppStoreServerKey]>([]), Shared<[String: Int]>([:]))
    let apple = SmallServer { request in
      let isSandbox = request.path.hasPrefix("/sandbox")
      let key = (isSandbox ? "sandbox " : "") + String((request.headers["authorization"] ?? "").dropFirst("Bearer ".count))
      requests.update { $0.append(key) }
      let status = current.value[key] ?? current.value[key.replacing("+", with: "")] ?? 500
      return .ok(status == 404 ? #"{"errorCode":4040010}"# : "{}", status: "\(status) Status")
    }
    defer { apple.stop() }
    var quick = AppStoreServerRetryRule()
    quick.base = 1
    let client = AppStoreServerAPIClient(
      http: HTTPClient(), baseURLs: [.production: apple.url, .sandbox: apple.url + "/sandbox"], retryRule: quick,
      pacing: Permits(permits), keyRefused: { _, _, key in refused.update { $0.append(key) } },
      token: { (_, _, key, isNew, _) throws(AppStoreServerAPIError) in try token(key).map { isNew ? $0 + "+" : $0 } })
    var results: [String] = []
    for statuses in calls {
      current.update { $0 = statuses }
      do throws(AppStoreServerAPIError) {
        _ = try await client.call(endpoint, bundleId: "a", server: server, path: ["1"], deadline: .now + .seconds(600))
        results.append("ok")
      } catch {
        results.append(error.classification.rawValue)
      }
    }
    return (results, requests.value, refused.value)
  }

  @Test func `After a 401 the call is repeated with the other key, and later calls begin with the one that Apple accepted`() async {
    let played = await play([["first": 401, "other": 200], ["first": 401, "other": 200], ["first": 200, "other": 401], ["first": 200]])
    #expect(played.results == ["ok", "ok", "ok", "ok"])
    #expect(played.requests == ["first", "first+", "other", "other", "other", "other+", "first", "first"])
    #expect(played.refused == [.first, .other])
  }

  @Test(arguments: [AppStoreServerEndpoint.getTransactionInfo, .getTransactionHistory, .setAppAccountToken, .extendRenewalDate])
  func `After one 401 a read is repeated with a new token, and so is a change, which the 401 shows was not made`(
    endpoint: AppStoreServerEndpoint
  ) async {
    for server in [AppStoreServer.production, .sandbox] {
      let name = server == .sandbox ? "sandbox first" : "first"
      let played = await play([[name: 401, name + "+": 200], [name: 200]], of: endpoint, server: server) { $0 == .first ? "first" : nil }
      #expect(played.results == ["ok", "ok"] && played.refused.isEmpty)
      #expect(played.requests == [name, name + "+", name])
    }
  }

  @Test func `One 401 neither lets the sandbox be asked nor means that the app was never released`() async {
    let unnamed = await play([["first": 401, "first+": 404, "sandbox first": 404]], server: nil) { $0 == .first ? "first" : nil }
    #expect(unnamed.results == ["permanent"] && unnamed.requests == ["first", "first+", "sandbox first"])
    let named = await play([["first": 401, "first+": 404]]) { $0 == .first ? "first" : nil }
    #expect(named.results == ["permanent"] && named.requests == ["first", "first+"])
    // Nor does the sandbox refuse the key with one 401.
    let probed = await play([["first": 401, "sandbox first": 401, "sandbox first+": 404]]) { $0 == .first ? "first" : nil }
    #expect(probed.results == ["configuration"] && probed.requests == ["first", "first+", "sandbox first", "sandbox first+"])
    let second = await play([["first": 401, "other": 401, "other+": 200]])
    #expect(second.results == ["ok"] && second.requests == ["first", "first+", "other", "other+"])
  }

  @Test func `If Apple refuses both keys, each is tried twice`() async {
    let refused = ["first": 401, "other": 401, "sandbox first": 401, "sandbox other": 401]
    let played = await play([refused, refused])
    #expect(played.results == ["credentials", "credentials"])
    // The sandbox is asked whether it accepts a key once.
    #expect(
      played.requests == [
        "first", "first+", "other", "other+", "sandbox first", "sandbox first+", "sandbox other", "sandbox other+", "first", "first+",
        "other", "other+",
      ])
  }

  @Test func `If production refuses a key that the sandbox accepts, the key is right, and the sandbox is asked once`() async {
    let unreleased = await play([["first": 401, "sandbox first": 404], ["first": 401, "sandbox first": 404]]) {
      $0 == .first ? "first" : nil
    }
    #expect(unreleased.results == ["configuration", "configuration"])
    #expect(unreleased.requests == ["first", "first+", "sandbox first", "first", "first+"])
    let both = await play([["first": 401, "other": 401, "sandbox first": 401, "sandbox other": 404]])
    #expect(both.results == ["configuration"])
    #expect(both.requests == ["first", "first+", "other", "other+", "sandbox first", "sandbox first+", "sandbox other"])
    let wrong = await play([["first": 401, "sandbox first": 401], ["first": 401, "sandbox first": 404]]) { $0 == .first ? "first" : nil }
    #expect(wrong.results == ["credentials", "credentials"])
    #expect(wrong.requests == ["first", "first+", "sandbox first", "sandbox first+", "first", "first+"])
    // Without an answer of the sandbox, it is not asked again at once.
    let away = await play([["first": 401, "sandbox first": 500], ["first": 401, "sandbox first": 404]]) { $0 == .first ? "first" : nil }
    #expect(away.results == ["credentials", "credentials"])
    let unnamed = await play([["first": 401, "sandbox first": 404]], server: nil) { $0 == .first ? "first" : nil }
    #expect(unnamed.results == ["configuration"] && unnamed.requests == ["first", "first+", "sandbox first"])
    let sandbox = await play([["sandbox first": 401]], server: .sandbox) { $0 == .first ? "first" : nil }
    #expect(sandbox.results == ["credentials"] && sandbox.requests == ["sandbox first", "sandbox first+"])
  }

  @Test func `The sandbox is asked again an hour after its answer, and a minute after a call without one`() {
    let probes = SandboxKeyProbes()
    let begun = ContinuousClock.now
    #expect(probes.begin("a", now: begun) == nil && probes.begin("a", now: begun) == false)
    probes.end("a", isAccepted: nil, now: begun)
    #expect(probes.begin("a", now: begun + .seconds(59)) == false)
    #expect(probes.begin("a", now: begun + .seconds(60)) == nil)
    probes.end("a", isAccepted: true, now: begun + .seconds(61))
    #expect(probes.begin("a", now: begun + .seconds(3659)) == true)
    #expect(probes.begin("a", now: begun + .seconds(3660)) == nil)
    #expect(!probes.isReleased("a"))
    probes.noteReleased("a")
    #expect(probes.isReleased("a") && !probes.isReleased("b"))
  }

  @Test(arguments: [AppStoreServer.production, nil])
  func `A key that production refuses after it accepted one of the app is wrong, whatever the sandbox says`(server: AppStoreServer?) async {
    for accepted in [200, 404] {
      let played = await play(
        [["first": accepted, "sandbox first": 404], ["first": 401, "sandbox first": 404]], server: server
      ) { $0 == .first ? "first" : nil }
      #expect(played.results.last == "credentials", "\(accepted)")
    }
    // Production has accepted the other key, so the app was released.
    let refused = ["first": 401, "other": 401, "sandbox first": 404, "sandbox other": 404]
    let other = await play([["first": 401, "other": 200], refused], server: server)
    #expect(other.results == ["ok", "credentials"])
  }

  @Test func `An answer other than 401 shows that Apple accepts the key`() async {
    let played = await play([["first": 401, "other": 404], ["other": 200]])
    #expect(played.results == ["permanent", "ok"])
    #expect(played.requests == ["first", "first+", "other", "other"])
  }

  @Test func `An error of Apple's server is retried with the same key and says nothing about it`() async {
    let played = await play([["first": 401, "other": 500], ["first": 200]])
    #expect(played.results == ["server", "ok"])
    #expect(played.requests.first == "first" && played.requests.last == "first")
    #expect(played.requests.dropFirst(2).dropLast().allSatisfy { $0 == "other" } && played.requests.count > 4)
  }

  @Test func `If the call cannot be repeated, Apple's refusal is the result`() async {
    let limited = await play([["first": 401, "other": 200]], permits: 1)
    #expect(limited.results == ["credentials"] && limited.requests == ["first"])
    let withoutSigner = await play([["first": 401, "other": 200, "sandbox first": 401]]) { (key) throws(AppStoreServerAPIError) in
      if key == .other { throw AppStoreServerAPIError(.server, message: "signer is away", server: .production) }
      return "first"
    }
    let refusals = ["first", "first+", "sandbox first", "sandbox first+"]
    #expect(withoutSigner.results == ["credentials"] && withoutSigner.requests == refusals)
    let alone = await play([["first": 401, "sandbox first": 401]]) { $0 == .first ? "first" : nil }
    #expect(alone.results == ["credentials"] && alone.requests == refusals && alone.refused.isEmpty)
  }

  @Test func `If production refuses both keys, the sandbox is asked`() async {
    let played = await play([["first": 401, "other": 401, "sandbox first": 200]], server: nil)
    #expect(played.results == ["ok"] && played.requests == ["first", "first+", "other", "other+", "sandbox first"])
  }

  @Test func `A key that was removed is not used any more`() async {
    let asked = Shared(0)
    let played = await play([["first": 401, "other": 200], ["first": 200]]) { key in
      if key == .first { return "first" }
      // The first call asks whether there is another key, and then for its token.
      return asked.update { asked in
        asked += 1
        return asked <= 2 ? "other" : nil
      }
    }
    #expect(played.results == ["ok", "ok"] && played.requests == ["first", "first+", "other", "first"])
  }
}
