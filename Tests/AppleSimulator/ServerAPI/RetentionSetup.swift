import Synchronization
import WireJSON

/// The settings of each app in the *Retention Messaging API*: images, messages, defaults, the URL, performance tests.
final class RetentionSetup: Sendable {
  /// A requested performance test.
  struct TestOrder: Sendable {
    var requestID: String
    var app: SimulatedApp
    var subscription: SimulatedSubscription
    var url: String
    /// Times in milliseconds.
    var requests = 500
    var concurrent = 20
    var duration: Int64 = 30_000
    var threshold: Int64 = 700
    var successRate = 95

    var config: JSONObject {
      [
        "maxConcurrentRequests": .integer(concurrent), "totalRequests": .integer(requests), "totalDuration": .integer(duration),
        "responseTimeThreshold": .integer(threshold), "successRateThreshold": .integer(successRate),
      ]
    }
  }

  /// The result of a performance test.
  struct TestResult: Sendable {
    var result: String
    var successRate = 0
    var pending = 0
    var average: Int64 = 0
    var p50: Int64 = 0
    var p90: Int64 = 0
    var p95: Int64 = 0
    var p99: Int64 = 0
    /// The number of requests by *sendAttemptResult*.
    var failures: [String: Int] = [:]
  }

  /// Runs a performance test against the app's server, and returns the result.
  typealias Performer = @Sendable (TestOrder, _ url: String, _ report: @escaping @Sendable (TestResult) -> Void) -> Void

  private struct Image {
    var state: String
    var size: String
  }

  private struct Message {
    var state: String
    var images: Set<String>
  }

  private struct App {
    var images: [String: Image] = [:]
    var messages: [String: Message] = [:]
    /// `product/locale` → message.
    var defaults: [String: String] = [:]
    var url: String?
    var hasPassed = false
    /// The base URL on this machine that stands for the host of the app's URL. If it is nil, no test is run.
    var reach: String?
    /// Replaces the usual number of requests of a test that is run here.
    var requests: Int?
    var duration: Int64?
  }

  private struct State {
    var apps: [String: App] = [:]
    var tests: [String: (order: TestOrder, result: TestResult)] = [:]
    var limit = 2000
  }

  private let kept = Mutex(State())
  private let performer = Mutex<Performer?>(nil)

  func setPerformer(_ body: @escaping Performer) { performer.withLock { $0 = body } }

  func reset() { kept.withLock { $0 = State() } }

  private static func key(_ call: AppStoreServerAPI.Call) -> String { "\(call.environment.rawValue)/\(call.app.bundleID)" }

  /// Why the App Store would not show a message in an answer; nil if it would, or if the message was never uploaded here.
  func reasonAgainst(_ id: String, in answer: String, bundleID: String, environment: String) -> String? {
    kept.withLock { state in
      guard let app = state.apps["\(environment)/\(bundleID)"], let message = app.messages[id.lowercased()] else { return nil }
      if message.state != "APPROVED" { return "a message that is not approved" }
      if message.images.contains(where: { app.images[$0]?.state != "APPROVED" }) { return "a message whose image is not approved" }
      return answer != "message" && !message.images.isEmpty ? "a message with an image" : nil
    }
  }

  func respond(_ call: AppStoreServerAPI.Call, _ endpoint: APIEndpoint) throws -> SimulatedResponse {
    try kept.withLock { state in
      var app = state.apps[Self.key(call)] ?? App()
      let response = try Self.respond(call, endpoint, &app, limit: state.limit)
      state.apps[Self.key(call)] = app
      return response
    }
  }

  private static func respond(
    _ call: AppStoreServerAPI.Call, _ endpoint: APIEndpoint, _ app: inout App, limit: Int
  ) throws -> SimulatedResponse {
    // The sandbox approves everything immediately.
    let first = call.environment == .sandbox ? "APPROVED" : "PENDING"
    switch endpoint {
    case .imageUpload:
      let id = try identifier(call.values[0])
      let size = call.request.query("imageSize") ?? "FULL_SIZE"
      guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else {
        throw APIError(4_000_216, "Invalid request. The image's size is invalid.")
      }
      guard call.request.header("content-type") == "image/png", isImage(call.request.body, size: size) else {
        throw APIError(4_000_161, "Invalid request. The image is invalid.")
      }
      guard app.images[id] == nil else { throw APIError(4_090_000, "Conflict. The image id already exists.") }
      guard app.images.count < limit else { throw APIError(4_030_014, "Forbidden. The maximum number of images has been reached.") }
      app.images[id] = Image(state: first, size: size)
      return .empty(200)
    case .imageDeletion:
      let id = try identifier(call.values[0])
      guard app.images[id] != nil else { throw APIError(4_040_014, "Image not found.") }
      guard !app.messages.values.contains(where: { $0.images.contains(id) }) else {
        throw APIError(4_030_019, "Forbidden. The image is in use.")
      }
      app.images[id] = nil
      return .empty(200)
    case .imageList:
      return .json([
        "imageIdentifiers": .array(
          app.images.sorted { $0.key < $1.key }.map {
            ["imageIdentifier": .string($0.key), "imageState": .string($0.value.state), "imageSize": .string($0.value.size)]
          })
      ])
    case .messageUpload:
      let id = try identifier(call.values[0])
      let images = try messageImages(call, app)
      guard app.messages[id] == nil else { throw APIError(4_090_001, "Conflict. The message id already exists.") }
      guard app.messages.count < limit else {
        throw APIError(4_030_016, "Forbidden. The maximum number of messages has been reached.")
      }
      app.messages[id] = Message(state: first, images: images)
      return .empty(200)
    case .messageDeletion:
      let id = try identifier(call.values[0])
      guard app.messages[id] != nil else { throw APIError(4_040_015, "Message not found.") }
      app.messages[id] = nil
      app.defaults = app.defaults.filter { $0.value != id }
      return .empty(200)
    case .messageList:
      return .json([
        "messageIdentifiers": .array(
          app.messages.sorted { $0.key < $1.key }.map {
            ["messageIdentifier": .string($0.key), "messageState": .string($0.value.state)]
          })
      ])
    case .defaultMessageSetting:
      guard let id = (try? JSONValue(parsing: call.request.body))?["messageIdentifier"]?.stringValue?.lowercased() else {
        throw APIError.badRequest
      }
      guard let message = app.messages[id] else { throw APIError(4_040_015, "Message not found.") }
      guard message.state == "APPROVED" else { throw APIError(4_030_017, "Forbidden. The message is not approved.") }
      guard message.images.allSatisfy({ app.images[$0]?.state == "APPROVED" }) else {
        throw APIError(4_030_018, "Forbidden. The image is not approved.")
      }
      app.defaults[call.values.joined(separator: "/")] = id
      return .empty(200)
    case .defaultMessage:
      guard let id = app.defaults[call.values.joined(separator: "/")] else {
        throw APIError(4_040_020, "Default message not found.")
      }
      return .json(["messageIdentifier": .string(id)])
    case .defaultMessageDeletion:
      app.defaults[call.values.joined(separator: "/")] = nil
      return .empty(200)
    case .realtimeURLSetting:
      guard let url = (try? JSONValue(parsing: call.request.body))?["realtimeURL"]?.stringValue,
        url.hasPrefix("https://"), url.count <= 256
      else { throw APIError(4_000_215, "Invalid request. The URL is invalid.") }
      guard call.environment == .sandbox || app.hasPassed else {
        throw APIError(4_030_026, "Forbidden. A passing performance test is required.")
      }
      app.url = url
      return .empty(200)
    case .realtimeURL:
      guard let url = app.url else { throw APIError(4_040_021, "Realtime URL not found.") }
      return .json(["realtimeURL": .string(url)])
    default:
      app.url = nil
      return .empty(200)
    }
  }

  private static func identifier(_ text: String) throws -> String {
    guard isUUID(text) else { throw APIError.badRequest }
    return text.lowercased()
  }

  /// Checks the width, height and colour type, which are at fixed positions of a PNG file.
  private static func isImage(_ bytes: [UInt8], size: String) -> Bool {
    guard bytes.count > 45, bytes.prefix(8) == [137, 80, 78, 71, 13, 10, 26, 10], bytes[12..<16] == [73, 72, 68, 82] else {
      return false
    }
    func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 * 256 + Int(bytes[place + $1]) } }
    let (width, height, colours) = (number(16), number(20), bytes[25])
    guard [0, 2, 3].contains(colours) else { return false }
    return size == "BULLET_POINT" ? (width, height) == (1024, 1024) : width == 3840 && height >= 160 && height <= 2160
  }

  /// Checks a message and returns the identifiers of its images.
  private static func messageImages(_ call: AppStoreServerAPI.Call, _ app: App) throws -> Set<String> {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue, let header = body["header"]?.stringValue,
      let text = body["body"]?.stringValue
    else { throw APIError.badRequest }
    guard header.count <= 66 else { throw APIError(4_000_162, "Invalid request. The header is too long.") }
    guard text.count <= 144 else { throw APIError(4_000_163, "Invalid request. The body is too long.") }
    var images: Set<String> = []
    let points = body["bulletPoints"]?.arrayValue ?? []
    guard points.count <= 5 else { throw APIError(4_000_218, "Invalid request. There are too many bullet points.") }
    for (entry, size) in [(body["image"], "FULL_SIZE")] + points.map({ (Optional($0), "BULLET_POINT") }) {
      guard let entry else { continue }
      guard let id = entry["imageIdentifier"]?.stringValue?.lowercased(), let alt = entry["altText"]?.stringValue else {
        throw APIError.badRequest
      }
      guard alt.count <= 150 else { throw APIError(4_000_175, "Invalid request. The alt text is too long.") }
      if size == "BULLET_POINT", (entry["text"]?.stringValue ?? "").count > 66 {
        throw APIError(4_000_219, "Invalid request. The text of a bullet point is too long.")
      }
      guard let image = app.images[id] else { throw APIError(4_040_014, "Image not found.") }
      guard image.size == size else { throw APIError(4_000_216, "Invalid request. The image's size is invalid.") }
      images.insert(id)
    }
    if body["headerPosition"]?.stringValue == "ABOVE_IMAGE", body["image"] == nil {
      throw APIError(4_000_224, "Invalid request. A header above the image requires an image.")
    }
    return images
  }

  // MARK: Performance tests

  func startTest(_ call: AppStoreServerAPI.Call, _ subscription: SimulatedSubscription, requestID: String) throws -> SimulatedResponse {
    let (order, reach) = try kept.withLock { state -> (TestOrder, String?) in
      guard let app = state.apps[Self.key(call)], let url = app.url else { throw APIError(4_040_021, "Realtime URL not found.") }
      let isRunning = state.tests.values.contains { $0.order.app.bundleID == call.app.bundleID && $0.result.result == "PENDING" }
      guard !isRunning else { throw APIError(4_000_213, "Invalid request. A performance test is running.") }
      var order = TestOrder(requestID: requestID, app: call.app, subscription: subscription, url: url)
      order.requests = app.requests ?? order.requests
      order.duration = app.duration ?? order.duration
      state.tests[requestID] = (order, TestResult(result: "PENDING", pending: order.requests))
      return (order, app.reach)
    }
    if let reach, let perform = performer.withLock({ $0 }) {
      let path = order.url.dropFirst("https://".count).drop { $0 != "/" }
      perform(order, reach + path) { [self] result in note(result, of: requestID) }
    }
    return .json(["config": .object(order.config), "requestId": .string(requestID)])
  }

  private func note(_ result: TestResult, of requestID: String) {
    kept.withLock { state in
      guard var test = state.tests[requestID] else { return }
      test.result = result
      state.tests[requestID] = test
      // The last test decides.
      if result.result != "PENDING" {
        state.apps["Production/\(test.order.app.bundleID)", default: App()].hasPassed = result.result == "PASS"
      }
    }
  }

  func result(_ call: AppStoreServerAPI.Call) throws -> SimulatedResponse {
    let id = call.values[0]
    guard isUUID(id) else { throw APIError(4_000_212, "Invalid request. The request id is invalid.") }
    guard let test = kept.withLock({ $0.tests[id.lowercased()] ?? $0.tests[id] }), test.order.app.bundleID == call.app.bundleID else {
      throw APIError(4_040_018, "Performance test run not found.")
    }
    let result = test.result
    return .json([
      "config": .object(test.order.config), "target": .string(test.order.url), "result": .string(result.result),
      "successRate": .integer(result.successRate), "numPending": .integer(result.pending),
      "responseTimes": [
        "average": .integer(result.average), "p50": .integer(result.p50), "p90": .integer(result.p90), "p95": .integer(result.p95),
        "p99": .integer(result.p99),
      ],
      "failures": .object(
        JSONObject(result.failures.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) })),
    ])
  }

  // MARK: Control

  /// `POST /control/retention`: sets the state of an image or a message, the result of a performance test, the maximum number of images and
  /// messages, and the base URL for performance tests.
  func control(_ body: JSONObject) throws -> JSONValue {
    if let limit = body["most"]?.int64Value {
      kept.withLock { $0.limit = Int(limit) }
      return state()
    }
    if let id = body["requestId"]?.stringValue {
      guard kept.withLock({ $0.tests[id] }) != nil else { throw ControlError("requestId: no test of ours") }
      guard let result = body["result"]?.stringValue, ["PENDING", "PASS", "FAIL"].contains(result) else {
        throw ControlError("result: PENDING, PASS or FAIL")
      }
      note(TestResult(result: result, successRate: Int(body["successRate"]?.int64Value ?? (result == "PASS" ? 100 : 0))), of: id)
      return state()
    }
    guard let bundleID = body["bundleId"]?.stringValue else { throw ControlError("bundleId: required") }
    let key = (body["environment"]?.stringValue ?? "Production") + "/" + bundleID
    if let reach = body["reach"]?.stringValue {
      guard reach.isEmpty || reach.hasPrefix("http://") || reach.hasPrefix("https://"), !reach.hasSuffix("/") else {
        throw ControlError("reach: a URL without a path, or nothing")
      }
      kept.withLock { kept in
        kept.apps[key, default: App()].reach = reach.isEmpty ? nil : reach
        kept.apps[key]?.requests = body["totalRequests"]?.int64Value.map { Int(clamping: min(max(1, $0), 100_000)) }
        kept.apps[key]?.duration = body["totalDuration"]?.int64Value.map { min(max(0, $0), 600_000) }
      }
      return state()
    }
    guard let wanted = body["state"]?.stringValue, ["PENDING", "APPROVED", "REJECTED"].contains(wanted) else {
      throw ControlError("state: PENDING, APPROVED or REJECTED")
    }
    let found = kept.withLock { state -> Bool in
      if let id = body["imageIdentifier"]?.stringValue?.lowercased(), state.apps[key]?.images[id] != nil {
        state.apps[key]?.images[id]?.state = wanted
        return true
      }
      if let id = body["messageIdentifier"]?.stringValue?.lowercased(), state.apps[key]?.messages[id] != nil {
        state.apps[key]?.messages[id]?.state = wanted
        return true
      }
      return false
    }
    guard found else { throw ControlError("imageIdentifier or messageIdentifier: one that was uploaded") }
    return state()
  }

  /// `GET /control/retention`.
  func state() -> JSONValue {
    kept.withLock { state in
      .object(
        JSONObject(
          state.apps.sorted { $0.key < $1.key }.map { key, app in
            var object: JSONObject = [
              "images": .integer(app.images.count), "messages": .integer(app.messages.count),
              "defaults": .integer(app.defaults.count), "hasPassed": .bool(app.hasPassed),
            ]
            object["url"] = app.url.map { .string($0) }
            return JSONObject.Member(key: key, value: .object(object))
          }))
    }
  }
}
