import Synchronization
import WireJSON

/// The settings of each app and environment in the *Retention Messaging API*: images, messages, default messages and the URL. Performance
/// tests are in RetentionSetup+PerformanceTests.swift.
final class RetentionSetup: Sendable {
  struct Image {
    /// `PENDING`, `APPROVED` or `REJECTED`.
    var state: String
    /// `FULL_SIZE` or `BULLET_POINT`.
    var size: String
  }

  struct Message {
    /// `PENDING`, `APPROVED` or `REJECTED`.
    var state: String
    /// The identifiers of its images.
    var images: Set<String>
  }

  /// The settings of an app in one environment.
  struct App {
    var images: [String: Image] = [:]
    var messages: [String: Message] = [:]
    /// The identifiers of default messages, by `product/locale`.
    var defaults: [String: String] = [:]
    var url: String?
    /// True if the last completed performance test was passed.
    var hasPassed = false
    /// The server's base URL on this machine (the control field `reach`). In a test, it replaces scheme and host of the app's URL. If it is
    /// nil, a requested test is not run.
    var serverURL: String?
    /// Replace the usual number of requests and the usual duration in milliseconds of a test.
    var requests: Int?
    var duration: Int64?
  }

  struct State {
    /// The settings by `environment/bundle`.
    var apps: [String: App] = [:]
    /// The performance tests by their requestIds.
    var tests: [String: (test: RequestedTest, result: TestResult)] = [:]
    /// The maximum number of images, and of messages, of an app.
    var limit = 2000
  }

  let state = Mutex(State())
  let testRunner = Mutex<TestRunner?>(nil)

  /// Sets the function that runs performance tests. It needs this object, so it cannot be passed to `init`.
  func setTestRunner(_ runner: @escaping TestRunner) { testRunner.withLock { $0 = runner } }

  func reset() { state.withLock { $0 = State() } }

  static func key(_ call: AppStoreServerAPI.Call) -> String { "\(call.environment.rawValue)/\(call.app.bundleID)" }

  /// The reason why the App Store would not show a message; nil if it would, or if the message was never uploaded here.
  ///
  /// - Parameter answer: the member of the answer that names the message. Only `message` may have a message with an image.
  func reasonAgainst(_ id: String, in answer: String, bundleID: String, environment: String) -> String? {
    state.withLock { state in
      guard let app = state.apps["\(environment)/\(bundleID)"], let message = app.messages[id.lowercased()] else { return nil }
      if message.state != "APPROVED" { return "a message that is not approved" }
      if message.images.contains(where: { app.images[$0]?.state != "APPROVED" }) { return "a message whose image is not approved" }
      return answer != "message" && !message.images.isEmpty ? "a message with an image" : nil
    }
  }

  func respond(_ call: AppStoreServerAPI.Call, _ endpoint: APIEndpoint) throws -> SimulatedResponse {
    try state.withLock { state in
      var app = state.apps[Self.key(call)] ?? App()
      let response = try Self.respond(call, endpoint, &app, limit: state.limit)
      state.apps[Self.key(call)] = app
      return response
    }
  }

  private static func respond(
    _ call: AppStoreServerAPI.Call, _ endpoint: APIEndpoint, _ app: inout App, limit: Int
  ) throws -> SimulatedResponse {
    // The sandbox approves images and messages immediately.
    let initialState = call.environment == .sandbox ? "APPROVED" : "PENDING"
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
      app.images[id] = Image(state: initialState, size: size)
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
      app.messages[id] = Message(state: initialState, images: images)
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
    func number(_ position: Int) -> Int { (0..<4).reduce(0) { $0 * 256 + Int(bytes[position + $1]) } }
    let (width, height, colours) = (number(16), number(20), bytes[25])
    // Types 4 and 6 have an alpha channel, which Apple does not accept.
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

  /// `POST /control/retention`. Depending on its members, the request sets the maximum number of images and messages, the result of a
  /// performance test, the base URL for performance tests, or the state of an image or a message.
  func control(_ body: JSONObject) throws -> JSONValue {
    if let limit = body["most"]?.int64Value {
      state.withLock { $0.limit = Int(limit) }
      return json
    }
    if let id = body["requestId"]?.stringValue {
      guard state.withLock({ $0.tests[id] }) != nil else { throw ControlError("requestId: no performance test has this id") }
      guard let result = body["result"]?.stringValue, ["PENDING", "PASS", "FAIL"].contains(result) else {
        throw ControlError("result: PENDING, PASS or FAIL")
      }
      record(TestResult(result: result, successRate: Int(body["successRate"]?.int64Value ?? (result == "PASS" ? 100 : 0))), of: id)
      return json
    }
    guard let bundleID = body["bundleId"]?.stringValue else { throw ControlError("bundleId: required") }
    let key = (body["environment"]?.stringValue ?? "Production") + "/" + bundleID
    if let url = body["reach"]?.stringValue {
      guard url.isEmpty || url.hasPrefix("http://") || url.hasPrefix("https://"), !url.hasSuffix("/") else {
        throw ControlError("reach: must be empty, or an http or https URL without a slash at the end")
      }
      state.withLock { state in
        state.apps[key, default: App()].serverURL = url.isEmpty ? nil : url
        state.apps[key]?.requests = body["totalRequests"]?.int64Value.map { Int(clamping: min(max(1, $0), 100_000)) }
        state.apps[key]?.duration = body["totalDuration"]?.int64Value.map { min(max(0, $0), 600_000) }
      }
      return json
    }
    guard let newState = body["state"]?.stringValue, ["PENDING", "APPROVED", "REJECTED"].contains(newState) else {
      throw ControlError("state: PENDING, APPROVED or REJECTED")
    }
    let found = state.withLock { state -> Bool in
      if let id = body["imageIdentifier"]?.stringValue?.lowercased(), state.apps[key]?.images[id] != nil {
        state.apps[key]?.images[id]?.state = newState
        return true
      }
      if let id = body["messageIdentifier"]?.stringValue?.lowercased(), state.apps[key]?.messages[id] != nil {
        state.apps[key]?.messages[id]?.state = newState
        return true
      }
      return false
    }
    guard found else { throw ControlError("imageIdentifier or messageIdentifier: none was uploaded with this id") }
    return json
  }

  /// `GET /control/retention`.
  var json: JSONValue {
    state.withLock { state in
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
