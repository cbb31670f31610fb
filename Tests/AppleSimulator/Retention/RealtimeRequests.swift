import Foundation
import HTTPClient
import Synchronization
import WireJSON

/// Requests retention messages from a server as the App Store does (*Get Retention Message*, *RealtimeRequestBody*), checks the answers
/// (``RealtimeAnswerCheck``), and runs the performance test.
struct RealtimeRequests: Sendable {
  /// The time limit of a request. It is far longer than an answer may take, so that the duration of late answers is measured too.
  private static let timeout: Duration = .seconds(5)

  let signer: JWSSigner
  /// Signs with a certificate chain under a root that the services do not trust.
  let foreignRootSigner: JWSSigner
  /// Signs with a certificate chain under the right root, but without Apple's marker extensions.
  let unmarkedSigner: JWSSigner
  let apps: AppRegistry
  let setup: RetentionSetup
  let time: SimulatedTime
  let random: SeededRandom
  let http: HTTPClient

  init(
    signer: JWSSigner, foreignRootSigner: JWSSigner, unmarkedSigner: JWSSigner, apps: AppRegistry, setup: RetentionSetup,
    time: SimulatedTime, random: SeededRandom, caFile: String
  ) {
    self.signer = signer
    self.foreignRootSigner = foreignRootSigner
    self.unmarkedSigner = unmarkedSigner
    self.apps = apps
    self.setup = setup
    self.time = time
    self.random = random
    var configuration = HTTPClientConfiguration()
    configuration.caFile = caFile
    configuration.maxConnectionsPerHost = 64
    http = HTTPClient(configuration: configuration)
  }

  /// A signed request for a message.
  struct SignedRequest: Sendable {
    /// The payload as the receiver reads it. If it was altered after it was signed, this is the altered one.
    var payload: JSONObject
    /// The payload as a compact JWS.
    var signedPayload: String

    var body: [UInt8] { JSONValue.object(["signedPayload": .string(signedPayload)]).serialized }
  }

  /// A request and its answer.
  struct Exchange: Sendable {
    var request: SignedRequest
    /// The HTTP status; nil if there was no answer.
    var status: Int?
    /// The body of the answer.
    var answer: [UInt8] = []
    /// The duration of the request.
    var seconds: Double
    var result: AttemptResult
    /// The reasons why the App Store could not use the answer.
    var problems: [String] = []

    var json: JSONObject {
      var object: JSONObject = [
        "request": .object(request.payload), "signedPayload": .string(request.signedPayload),
        "sendAttemptResult": .string(result.rawValue),
        "milliseconds": .number(JSONNumber((seconds * 100_000).rounded() / 100) ?? JSONNumber(0)),
        "problems": .array(problems.map { .string($0) }),
      ]
      object["status"] = status.map { .integer($0) }
      object["answer"] = try? JSONValue(parsing: answer)
      return object
    }
  }

  /// Creates a request and signs it.
  ///
  /// - Parameters:
  ///   - fields: replace members of the usual payload; null removes one.
  ///   - forge: how the request is forged: `stranger` (signed under another root), `unmarked` (certificates without Apple's extensions),
  ///     `altered` (a payload that was changed after it was signed) or `signature` (that of another request). Nil for a genuine request.
  func makeRequest(
    _ app: SimulatedApp, _ environment: AppStoreEnvironment, originalTransactionID: String? = nil, fields: JSONObject = [:],
    forge: String? = nil
  ) throws -> SignedRequest {
    var payload: JSONObject = [
      "originalTransactionId": .string(originalTransactionID ?? random.digits(15)), "appAppleId": .integer(app.appAppleID ?? 0),
      "productId": .string(app.bundleID + ".monthly"), "userLocale": "en-US", "requestIdentifier": .string(random.uuid()),
      "environment": .string(environment.rawValue), "signedDate": .integer(time.now),
    ]
    for member in fields.members { payload[member.key] = member.value.isNull ? nil : member.value }
    var signed: String
    switch forge {
    case nil, "altered", "signature": signed = try signer.sign(payload)
    case "stranger": signed = try foreignRootSigner.sign(payload)
    case "unmarked": signed = try unmarkedSigner.sign(payload)
    default: throw ControlError("forge: stranger, unmarked, altered or signature")
    }
    let parts = signed.split(separator: ".").map(String.init)
    if forge == "altered" {
      payload["productId"] = .string(app.bundleID + ".other")
      signed = [parts[0], Base64Text.encodeURL(JSONValue.object(payload).serialized), parts[2]].joined(separator: ".")
    } else if forge == "signature" {
      let other = try signer.sign(["originalTransactionId": "1"]).split(separator: ".")[2]
      signed = [parts[0], parts[1], String(other)].joined(separator: ".")
    }
    return SignedRequest(payload: payload, signedPayload: signed)
  }

  /// Posts a request and checks the answer.
  func send(_ request: SignedRequest, to url: String, app: SimulatedApp) async -> Exchange {
    let start = ContinuousClock.now
    func seconds() -> Double { start.duration(to: .now) / .seconds(1) }
    do {
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url,
          headers: [("Content-Type", "application/json"), ("User-Agent", "App Store Retention Messaging"), ("Accept", "application/json")],
          body: request.body, timeout: Self.timeout, maxResponseBytes: 256 << 10))
      let duration = seconds()
      let check = RealtimeAnswerCheck(request: request.payload, app: app, apps: apps, setup: setup, now: time.now)
      let problems = check.problems(status: response.status, contentType: response[header: "Content-Type"], body: response.body)
      let result: AttemptResult =
        response.status != 200 ? .unsuccessfulStatus : problems.isEmpty ? .success : .invalidResponse
      return Exchange(
        request: request, status: response.status, answer: response.body, seconds: duration, result: result, problems: problems)
    } catch {
      return Exchange(request: request, seconds: seconds(), result: Self.result(of: error))
    }
  }

  private static func result(of error: any Error) -> AttemptResult {
    switch error as? HTTPClientError {
    case .timedOut: .timedOut
    case .tls: .tlsIssue
    case .couldNotConnect: .socketIssue
    case .connectionReset: .prematureClose
    default: .other
    }
  }

  /// Runs the performance test: the starts of the requests are spread over its duration, and each answer is checked. A request that takes
  /// longer than the threshold counts as `TIMED_OUT`.
  ///
  /// - Parameters:
  ///   - originalTransactionID: the id of a purchase in the sandbox.
  ///   - fields: replace members of the usual payload of each request.
  func run(
    _ configuration: TestConfiguration, at url: String, app: SimulatedApp, originalTransactionID: String, fields: JSONObject = [:]
  ) async -> TestResult {
    let counter = ResultCounter(TestResult(configuration: configuration, target: url))
    let pause = Duration.milliseconds(configuration.totalDuration) / max(1, configuration.totalRequests)
    let start = ContinuousClock.now
    await withDiscardingTaskGroup { group in
      let limiter = ConcurrencyLimiter(limit: configuration.maxConcurrentRequests)
      for number in 0..<configuration.totalRequests {
        try? await ContinuousClock().sleep(until: start + pause * number)
        await limiter.acquire()
        group.addTask {
          defer { limiter.release() }
          guard let request = try? makeRequest(app, .sandbox, originalTransactionID: originalTransactionID, fields: fields) else { return }
          let exchange = await send(request, to: url, app: app)
          let isLate = exchange.seconds * 1000 > Double(configuration.responseTimeThreshold)
          let outcome = exchange.result == .success && isLate ? .timedOut : exchange.result
          counter.add(exchange.seconds, outcome)
        }
      }
    }
    return counter.result
  }

  /// Collects the durations and outcomes of concurrent requests.
  private final class ResultCounter: Sendable {
    private let state: Mutex<TestResult>

    init(_ result: TestResult) { state = Mutex(result) }

    var result: TestResult { state.withLock { $0 } }

    func add(_ seconds: Double, _ outcome: AttemptResult) {
      state.withLock { result in
        result.times.append(seconds)
        if outcome == .success { result.successes += 1 } else { result.failures[outcome, default: 0] += 1 }
      }
    }
  }

  /// Limits the number of concurrent requests.
  private final class ConcurrencyLimiter: Sendable {
    private struct State {
      var free: Int
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(free: max(1, limit))) }

    /// Returns when fewer than `limit` requests are in progress.
    func acquire() async {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append(continuation)
          return false
        }
        if isFree { continuation.resume() }
      }
    }

    func release() {
      let next: CheckedContinuation<Void, Never>? = state.withLock { state in
        if state.waiting.isEmpty {
          state.free += 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.resume()
    }
  }

  /// `POST /control/retention/requests`: creates a request and, if there is a URL, posts it once.
  func control(_ body: JSONObject) async throws -> JSONValue {
    let (app, environment) = try target(body)
    let request = try makeRequest(
      app, environment, originalTransactionID: body["originalTransactionId"]?.stringValue, fields: body["fields"]?.objectValue ?? [:],
      forge: body["forge"]?.stringValue)
    guard let url = body["url"]?.stringValue else {
      return ["request": .object(request.payload), "signedPayload": .string(request.signedPayload)]
    }
    return .object(await send(request, to: url, app: app).json)
  }

  /// `POST /control/retention/performance`: runs the performance test.
  func performance(_ body: JSONObject) async throws -> JSONValue {
    let (app, _) = try target(body)
    guard let url = body["url"]?.stringValue else { throw ControlError("url: required") }
    guard let id = body["originalTransactionId"]?.stringValue else { throw ControlError("originalTransactionId: required") }
    var configuration = TestConfiguration()
    if let total = body["totalRequests"]?.int64Value, (1...100_000).contains(total) { configuration.totalRequests = Int(total) }
    if let limit = body["maxConcurrentRequests"]?.int64Value, (1...1000).contains(limit) {
      configuration.maxConcurrentRequests = Int(limit)
    }
    if let duration = body["totalDuration"]?.int64Value, (0...600_000).contains(duration) { configuration.totalDuration = duration }
    if let threshold = body["responseTimeThreshold"]?.int64Value, threshold > 0 { configuration.responseTimeThreshold = threshold }
    return .object(
      await run(configuration, at: url, app: app, originalTransactionID: id, fields: body["fields"]?.objectValue ?? [:]).json)
  }

  /// The app and the environment that a control request names.
  private func target(_ request: JSONObject) throws -> (SimulatedApp, AppStoreEnvironment) {
    guard let bundleID = request["bundleId"]?.stringValue, let app = apps.app(bundleID) else {
      throw ControlError("bundleId: not registered (POST /control/apps)")
    }
    guard let environment = AppStoreEnvironment(rawValue: request["environment"]?.stringValue ?? "Sandbox") else {
      throw ControlError("environment: Production or Sandbox")
    }
    return (app, environment)
  }
}
