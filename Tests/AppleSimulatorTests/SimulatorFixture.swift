import Foundation
import Logging
import WireJSON

@testable import AppleSimulator

/// A simulator for one test, with a developer that has one app and one key.
struct SimulatorFixture: Sendable {
  static let bundleID = "com.example.app"
  static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

  let simulator: AppleSimulator
  let path: String
  /// Signs API tokens.
  let developerKey: EllipticKey

  var parts: SimulatorParts { simulator.parts }
  var now: Int64 { parts.time.now }

  init(timeScale: Double = 1, seed: UInt64 = UInt64.random(in: 1...UInt64.max), notificationURL: String? = nil) throws {
    print("seed \(seed)")
    path = NSTemporaryDirectory() + "/apple-simulator-" + UUID().uuidString
    var configuration = AppleSimulator.Configuration(stateDirectory: path)
    configuration.timeScale = timeScale
    configuration.seed = seed
    simulator = try AppleSimulator(configuration)
    developerKey = try EllipticKey.generate(.p256)
    try registerApp(notificationURL: notificationURL)
  }

  func registerApp(notificationURL: String?, released: Bool = true) throws {
    var app: JSONObject = ["bundleId": .string(Self.bundleID), "appAppleId": 525_463_029, "released": .bool(released)]
    if let notificationURL {
      app["notificationURLs"] = ["Production": .string(notificationURL), "Sandbox": .string(notificationURL)]
    }
    app["apiKeys"] = [
      ["issuerId": .string(Self.issuerID), "keyId": "KEY1234567", "publicKey": .string(try developerKey.publicPEM())]
    ]
    try parts.apps.register(SimulatedApp(app))
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// Runs the server on a free port while `body` runs.
  func serving(_ body: @Sendable (_ url: String) async throws -> Void) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let quiet = logger
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await simulator.run(logger: quiet, signals: []) }
      var url: String?
      for _ in 0..<200 where url == nil {
        try await Task.sleep(for: .milliseconds(20))
        url = try simulator.directory.read("simulator.json").flatMap { try JSONValue(parsing: $0)["url"]?.stringValue }
      }
      guard let url else { throw ControlError("the simulator did not start") }
      let result: Result<Void, any Error>
      do { result = .success(try await body(url)) } catch { result = .failure(error) }
      group.cancelAll()
      while let ended = await group.nextResult() { _ = ended }
      try result.get()
    }
  }

  /// A token that is valid unless `change` makes it invalid.
  func token(header: JSONObject = [:], claims: JSONObject = [:], key: EllipticKey? = nil) throws -> String {
    var head: JSONObject = ["alg": "ES256", "kid": "KEY1234567", "typ": "JWT"]
    head.merge(header)
    let seconds = now / 1000
    var payload: JSONObject = [
      "iss": .string(Self.issuerID), "iat": .integer(seconds), "exp": .integer(seconds + 1200),
      "aud": "appstoreconnect-v1",
      "bid": .string(Self.bundleID),
    ]
    payload.merge(claims)
    return try JWSSigner.compact(
      header: JSONValue.object(head).serialized, payload: JSONValue.object(payload).serialized, key: key ?? developerKey
    )
  }

  /// One call to the App Store Server API, without HTTP.
  func call(
    _ method: String, _ target: String, body: JSONValue? = nil, token: String? = nil,
    environment: AppStoreEnvironment = .production
  ) async throws -> SimulatedResponse {
    let authorization = "Bearer " + (try token ?? self.token())
    let request = SimulatedRequest(
      method: method, target: target, authority: "localhost", headers: [("authorization", authorization)],
      body: body?.serialized ?? [])
    return await parts.serverAPI.respond(to: request, path: request.segments, environment: environment)
  }

  /// One control request, without HTTP.
  func control(_ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
    let request = SimulatedRequest(
      method: body == nil ? "GET" : "POST", target: "/control/" + path, authority: nil, headers: [],
      body: body?.serialized ?? [])
    let response = await ControlAPI(parts: parts).respond(to: request)
    let value = try JSONValue(parsing: response.body)
    guard response.status == 200 else {
      throw ControlError(value["error"]?.stringValue ?? "status \(response.status)")
    }
    return value
  }
}

extension SimulatedResponse {
  var json: JSONValue? { try? JSONValue(parsing: body) }
  var errorCode: Int64? { json?["errorCode"]?.int64Value }
}

/// The payload of a compact JWS, without verification.
func payload(_ jws: String?) throws -> JSONObject {
  let parts = (jws ?? "").split(separator: ".")
  guard parts.count == 3, let bytes = Base64Text.decodeURL(String(parts[1])) else { throw ControlError("no JWS") }
  return try JSONValue(parsing: bytes).objectValue ?? [:]
}
