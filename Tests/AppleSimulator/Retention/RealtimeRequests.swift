import Foundation
import HTTPClient
import Synchronization
import WireJSON

/// Requests retention messages from a server as the App Store does (*Get Retention Message*, *RealtimeRequestBody*), checks the
/// answers, and runs the performance test.
struct RealtimeRequests: Sendable {
  /// The time limit for an answer, far longer than any answer may take.
  private static let patience: Duration = .seconds(5)

  let signer: JWSSigner
  /// Signs with a chain of another root.
  let stranger: JWSSigner
  /// Signs with a chain without Apple's marker extensions.
  let unmarked: JWSSigner
  let apps: AppRegistry
  let setup: RetentionSetup
  let time: SimulatedTime
  let random: SeededRandom
  let http: HTTPClient

  init(
    signer: JWSSigner, stranger: JWSSigner, unmarked: JWSSigner, apps: AppRegistry, setup: RetentionSetup, time: SimulatedTime,
    random: SeededRandom, caFile: String
  ) {
    self.signer = signer
    self.stranger = stranger
    self.unmarked = unmarked
    self.apps = apps
    self.setup = setup
    self.time = time
    self.random = random
    var configuration = HTTPClientConfiguration()
    configuration.caFile = caFile
    configuration.maxConnectionsPerHost = 64
    http = HTTPClient(configuration: configuration)
  }

  /// A signed request.
  struct Question: Sendable {
    var payload: JSONObject
    var signedPayload: String

    var body: [UInt8] { JSONValue.object(["signedPayload": .string(signedPayload)]).serialized }
  }

  /// The result of a request.
  struct Exchange: Sendable {
    var question: Question
    /// Nil when there was no answer.
    var status: Int?
    var answer: [UInt8] = []
    var seconds: Double
    var result: AttemptResult
    /// The reasons why the App Store could not use the answer.
    var problems: [String] = []

    var json: JSONObject {
      var object: JSONObject = [
        "request": .object(question.payload), "signedPayload": .string(question.signedPayload),
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
  ///   - fields: members of the payload instead of the usual ones; null removes one.
  ///   - forge: `stranger`, `unmarked`, `altered` (the payload was changed after it was signed) or `signature`; nil for a genuine one.
  func question(
    _ app: SimulatedApp, _ environment: AppStoreEnvironment, originalTransactionID: String? = nil, fields: JSONObject = [:],
    forge: String? = nil
  ) throws -> Question {
    var payload: JSONObject = [
      "originalTransactionId": .string(originalTransactionID ?? random.digits(15)), "appAppleId": .integer(app.appAppleID ?? 0),
      "productId": .string(app.bundleID + ".monthly"), "userLocale": "en-US", "requestIdentifier": .string(random.uuid()),
      "environment": .string(environment.rawValue), "signedDate": .integer(time.now),
    ]
    for member in fields.members { payload[member.key] = member.value.isNull ? nil : member.value }
    var signed: String
    switch forge {
    case nil, "altered", "signature": signed = try signer.sign(payload)
    case "stranger": signed = try stranger.sign(payload)
    case "unmarked": signed = try unmarked.sign(payload)
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
    return Question(payload: payload, signedPayload: signed)
  }

  /// Posts a request and checks the answer.
  func ask(_ question: Question, at url: String, app: SimulatedApp) async -> Exchange {
    let begun = ContinuousClock.now
    func seconds() -> Double { begun.duration(to: .now) / .seconds(1) }
    do {
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url,
          headers: [("Content-Type", "application/json"), ("User-Agent", "App Store Retention Messaging"), ("Accept", "application/json")],
          body: question.body, timeout: Self.patience, maxResponseBytes: 256 << 10))
      let taken = seconds()
      let check = RealtimeAnswerCheck(question: question.payload, app: app, apps: apps, setup: setup, now: time.now)
      let problems = check.problems(status: response.status, contentType: response[header: "Content-Type"], body: response.body)
      let result: AttemptResult =
        response.status != 200 ? .unsuccessfulStatus : problems.isEmpty ? .success : .invalidResponse
      return Exchange(
        question: question, status: response.status, answer: response.body, seconds: taken, result: result, problems: problems)
    } catch {
      return Exchange(question: question, seconds: seconds(), result: Self.result(of: error))
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

  // MARK: The performance test

  /// The settings of the test (*PerformanceTestConfig*).
  struct TestConfiguration: Sendable {
    var maxConcurrentRequests = 10
    var totalRequests = 200
    /// Milliseconds.
    var totalDuration: Int64 = 10_000
    /// Milliseconds.
    var responseTimeThreshold: Int64 = 700
    /// Percent.
    var successRateThreshold: Int64 = 95

    var json: JSONObject {
      [
        "maxConcurrentRequests": .integer(maxConcurrentRequests), "totalRequests": .integer(totalRequests),
        "totalDuration": .integer(totalDuration), "responseTimeThreshold": .integer(responseTimeThreshold),
        "successRateThreshold": .integer(successRateThreshold),
      ]
    }
  }

  /// The result of the test (*PerformanceTestResultResponse*).
  struct TestResult: Sendable {
    var configuration: TestConfiguration
    var target: String
    /// The duration of each request in seconds, in the order of the answers.
    var times: [Double] = []
    var failures: [AttemptResult: Int] = [:]
    var successes = 0

    var successRate: Int64 {
      let all = successes + failures.values.reduce(0, +)
      return all == 0 ? 0 : Int64(successes * 100 / all)
    }

    var isPassed: Bool { successRate >= configuration.successRateThreshold }

    /// Milliseconds.
    var average: Int64 { times.isEmpty ? 0 : Int64((times.reduce(0, +) / Double(times.count) * 1000).rounded()) }

    /// A percentile of the times, milliseconds, by nearest rank.
    func percentile(_ share: Double) -> Int64 {
      guard !times.isEmpty else { return 0 }
      let sorted = times.sorted()
      let rank = max(1, Int((share / 100 * Double(sorted.count)).rounded(.up)))
      return Int64((sorted[rank - 1] * 1000).rounded())
    }

    var json: JSONObject {
      [
        "config": .object(configuration.json), "target": .string(target), "result": isPassed ? "PASS" : "FAIL",
        "successRate": .integer(successRate), "numPending": 0,
        "responseTimes": [
          "average": .integer(average), "p50": .integer(percentile(50)), "p90": .integer(percentile(90)), "p95": .integer(percentile(95)),
          "p99": .integer(percentile(99)),
        ],
        "failures": .object(
          JSONObject(
            failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
              JSONObject.Member(key: $0.key.rawValue, value: .integer($0.value))
            })),
      ]
    }
  }

  /// Runs the performance test: requests are spread over its duration, and each answer is checked. A request that takes longer than
  /// the threshold is `TIMED_OUT`.
  ///
  /// - Parameters:
  ///   - originalTransactionID: the id of a purchase in the sandbox.
  ///   - fields: members of each payload instead of the usual ones.
  func run(
    _ configuration: TestConfiguration, at url: String, app: SimulatedApp, originalTransactionID: String, fields: JSONObject = [:]
  ) async -> TestResult {
    let tally = Tally(TestResult(configuration: configuration, target: url))
    let pause = Duration.milliseconds(configuration.totalDuration) / max(1, configuration.totalRequests)
    let begun = ContinuousClock.now
    await withDiscardingTaskGroup { group in
      let gate = Gate(limit: configuration.maxConcurrentRequests)
      for number in 0..<configuration.totalRequests {
        try? await ContinuousClock().sleep(until: begun + pause * number)
        await gate.enter()
        group.addTask {
          defer { gate.leave() }
          guard let question = try? question(app, .sandbox, originalTransactionID: originalTransactionID, fields: fields) else { return }
          let exchange = await ask(question, at: url, app: app)
          let isLate = exchange.seconds * 1000 > Double(configuration.responseTimeThreshold)
          let outcome = exchange.result == .success && isLate ? .timedOut : exchange.result
          tally.add(exchange.seconds, outcome)
        }
      }
    }
    return tally.result
  }

  /// Counts answers.
  private final class Tally: Sendable {
    private let counted: Mutex<TestResult>

    init(_ result: TestResult) { counted = Mutex(result) }

    var result: TestResult { counted.withLock { $0 } }

    func add(_ seconds: Double, _ outcome: AttemptResult) {
      counted.withLock { result in
        result.times.append(seconds)
        if outcome == .success { result.successes += 1 } else { result.failures[outcome, default: 0] += 1 }
      }
    }
  }

  /// Limits the number of concurrent requests.
  private final class Gate: Sendable {
    private struct State {
      var free: Int
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(free: max(1, limit))) }

    func enter() async {
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

    func leave() {
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

  // MARK: Control

  /// `POST /control/retention/requests`: posts a request once, or `count` times.
  func control(_ request: JSONObject) async throws -> JSONValue {
    let (app, environment) = try target(request)
    let question = try question(
      app, environment, originalTransactionID: request["originalTransactionId"]?.stringValue,
      fields: request["fields"]?.objectValue ?? [:], forge: request["forge"]?.stringValue)
    guard let url = request["url"]?.stringValue else {
      return ["request": .object(question.payload), "signedPayload": .string(question.signedPayload)]
    }
    return .object(await ask(question, at: url, app: app).json)
  }

  /// `POST /control/retention/performance`: runs the performance test.
  func performance(_ request: JSONObject) async throws -> JSONValue {
    let (app, _) = try target(request)
    guard let url = request["url"]?.stringValue else { throw ControlError("url: required") }
    guard let id = request["originalTransactionId"]?.stringValue else { throw ControlError("originalTransactionId: required") }
    var configuration = TestConfiguration()
    if let total = request["totalRequests"]?.int64Value, (1...100_000).contains(total) { configuration.totalRequests = Int(total) }
    if let limit = request["maxConcurrentRequests"]?.int64Value, (1...1000).contains(limit) {
      configuration.maxConcurrentRequests = Int(limit)
    }
    if let duration = request["totalDuration"]?.int64Value, (0...600_000).contains(duration) { configuration.totalDuration = duration }
    if let threshold = request["responseTimeThreshold"]?.int64Value, threshold > 0 { configuration.responseTimeThreshold = threshold }
    return .object(
      await run(configuration, at: url, app: app, originalTransactionID: id, fields: request["fields"]?.objectValue ?? [:]).json)
  }

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
