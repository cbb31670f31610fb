import AppStore
import AttributionClient
import AttributionProtocol
import HTTPClient
import Synchronization
import Testing
import WireJSON

@testable import ServiceRuntime
@testable import notification_recovery

@Suite("Tokens from the signer")
struct SignerTokensTests {
  /// A signer that answers all calls in one way.
  private final class Signer: HTTPSender {
    private let response: (status: Int, body: [UInt8])
    private let keyIds = Mutex<[String?]>([])
    /// The requested lifetimes of tokens.
    let lifetimes = Mutex<[Int64?]>([])
    /// The time limits of the calls, milliseconds.
    let limits = Mutex<[Int64]>([])
    /// The keys that were requested, in order.
    var requested: [String?] { keyIds.withLock { $0 } }

    init(error: RPCError) { response = (error.code.httpStatus, error.json) }
    init() { response = (200, Array(#"{"token":"t","expiresAt":"2026-01-01T00:00:00Z"}"#.utf8)) }

    func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
      let limit = request.headers.first { $0.0 == "Connect-Timeout-Ms" }.flatMap { Int64($0.1) }
      limits.withLock { $0.append(limit ?? 0) }
      let body = try? JSONValue(parsing: request.body ?? [])
      keyIds.withLock { $0.append(body?["keyId"]?.stringValue) }
      lifetimes.withLock { $0.append(body?["lifetimeSeconds"]?.int64Value) }
      return HTTPClientResponse(
        status: response.status, headers: [("content-type", "application/json")], body: response.body, httpVersion: "1.1")
    }

    func tokens(otherKey: String = ", otherKey: { keyId: B, privateKey: b.p8 }") throws -> SignerTokens {
      let yaml = """
        apps:
          - bundleId: a
            environments: [Sandbox]
            appStoreServer: { issuerId: team, keyId: A, privateKey: a.p8\(otherKey) }
        """
      return SignerTokens(
        signer: RPCClient(baseURL: "http://signer", token: nil, transport: self),
        configuration: try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: "."))
    }
  }

  @Test("failures of signer are transient; configuration errors are permanent", arguments: RPCCode.allCases)
  func classification(code: RPCCode) {
    let passing: Set<RPCCode> = [
      .unavailable, .deadlineExceeded, .aborted, .canceled, .resourceExhausted, .internal, .unknown, .unauthenticated,
    ]
    #expect(SignerTokens.classification(code) == (passing.contains(code) ? .server : .configuration))
  }

  @Test func `The other key is requested by its id, and the first one without an id, which older signers understand`() async throws {
    let signer = Signer()
    let tokens = try signer.tokens()
    #expect(try await tokens.token(bundleId: "a", server: .sandbox, key: .first, deadline: .now + .seconds(60)) == "t")
    #expect(try await tokens.token(bundleId: "a", server: .sandbox, key: .other, deadline: .now + .seconds(60)) == "t")
    #expect(signer.requested == [nil, "B"])
  }

  @Test func `A new token is requested with a lifetime for which signer has none`() async throws {
    let signer = Signer()
    let tokens = try signer.tokens()
    for isNew in [false, true, true, true, true, true] {
      _ = try await tokens.token(bundleId: "a", server: .sandbox, key: .first, isNew: isNew, deadline: .now + .seconds(60))
    }
    let lifetimes = signer.lifetimes.withLock { $0 }
    #expect(lifetimes[0] == nil && Set(lifetimes).count > 2)
    #expect(lifetimes.dropFirst().allSatisfy { (600..<1200).contains($0 ?? 0) }, "\(lifetimes)")
  }

  @Test func `Without an other key signer is not asked for it`() async throws {
    let signer = Signer()
    #expect(try await signer.tokens(otherKey: "").token(bundleId: "a", server: .sandbox, key: .other, deadline: .now + .seconds(60)) == nil)
    #expect(signer.requested.isEmpty)
  }

  @Test(arguments: [RPCCode.notFound, .invalidArgument])
  func `If signer does not know the other key, or is too old to choose one, the app has none`(code: RPCCode) async throws {
    let tokens = try Signer(error: RPCError(code, "no")).tokens()
    #expect(try await tokens.token(bundleId: "a", server: .sandbox, key: .other, deadline: .now + .seconds(60)) == nil)
    let error = await #expect(throws: AppStoreServerAPIError.self) {
      try await tokens.token(bundleId: "a", server: .sandbox, key: .first, deadline: .now + .seconds(60))
    }
    #expect(error?.classification == .configuration)
  }

  @Test func `Signer gets the rest of the call's time, and never more than its own limit`() async throws {
    let signer = Signer()
    let tokens = try signer.tokens()
    for seconds in [60, 2] {
      _ = try await tokens.token(bundleId: "a", server: .sandbox, key: .first, deadline: .now + .seconds(seconds))
    }
    let limits = signer.limits.withLock { $0 }
    #expect(limits.count == 2 && (4000...4990).contains(limits[0]) && (1000...1990).contains(limits[1]), "\(limits)")
    await #expect(throws: AppStoreServerAPIError.self) {
      _ = try await tokens.token(bundleId: "a", server: .sandbox, key: .first, deadline: .now - .seconds(1))
    }
  }
}
