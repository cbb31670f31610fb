import AttributionQueue
public import WireJSON

/// How and where a subscription is pushed, and whether it is: what ``EventSubscription/push`` holds.
public struct EndpointSettings: Sendable, Hashable {
  /// Whether an endpoint is posted to.
  public enum State: String, Sendable, Hashable, CaseIterable {
    case enabled
    /// It failed for too long.
    case disabled
    /// It answered 410.
    case gone
  }

  /// A secret and when it was made.
  public struct Secret: Sendable, Hashable {
    public let secret: WebhookSecret
    /// Milliseconds since 1970.
    public let madeAt: Int64

    public init(secret: WebhookSecret, madeAt: Int64) {
      self.secret = secret
      self.madeAt = madeAt
    }
  }

  public private(set) var url: String
  public var form: PushForm
  public var isOrdered: Bool
  public var maxPerSecond: Int?
  public var maxConcurrent: Int?
  /// By which it asks for original bytes: ``EventFeed/keepOriginals(for:)``.
  public var originals: String?
  /// That sign, the newest first.
  public private(set) var secrets: [Secret]
  public private(set) var state = State.enabled
  /// When it came into this state, milliseconds since 1970.
  public private(set) var since: Int64
  /// Failures of before count no more, milliseconds since 1970: it was enabled then, or is another server since.
  public private(set) var countsFrom: Int64
  /// Why it is not enabled.
  public private(set) var reason: String?

  /// Settings of a new endpoint, with its first secret.
  public init(url: String, form: PushForm, isOrdered: Bool, maxPerSecond: Int?, maxConcurrent: Int?, now: Int64) {
    self.url = url
    self.form = form
    self.isOrdered = isOrdered
    self.maxPerSecond = maxPerSecond
    self.maxConcurrent = maxConcurrent
    secrets = [Secret(secret: .make(), madeAt: now)]
    since = now
    countsFrom = now
  }

  public static let defaultConcurrency = 8

  /// Whether they ask for the same, whatever came of it.
  public func asksForTheSame(as other: EndpointSettings) -> Bool {
    url == other.url && form == other.form && isOrdered == other.isOrdered && maxPerSecond == other.maxPerSecond
      && (maxConcurrent ?? Self.defaultConcurrency) == (other.maxConcurrent ?? Self.defaultConcurrency)
  }

  /// Has it posted to, and what failed before forgotten, whether it was enabled or not.
  public mutating func enable(now: Int64) {
    countsFrom = now
    guard state != .enabled else { return }
    (state, since, reason) = (.enabled, now, nil)
  }

  /// Names another server. What failed was the one before.
  public mutating func move(to url: String, now: Int64) {
    guard url != self.url else { return }
    (self.url, countsFrom) = (url, now)
  }

  /// Whether these are of the same server, in the same period of being enabled.
  func isSameServer(as other: EndpointSettings) -> Bool {
    (state, since, countsFrom, url) == (other.state, other.since, other.countsFrom, other.url)
  }

  mutating func end(_ state: State, reason: String, now: Int64) { (self.state, since, self.reason) = (state, now, reason) }

  /// Takes a new secret, which signs beside the newest one that there is.
  public mutating func add(_ secret: WebhookSecret, now: Int64) {
    secrets = [Secret(secret: secret, madeAt: now)] + secrets.prefix(1)
  }

  /// Ends all secrets but the newest.
  public mutating func endOlderSecrets() { secrets = Array(secrets.prefix(1)) }

  /// As it is kept.
  public var json: JSONObject {
    var object: JSONObject = [
      "url": .string(url), "form": .string(form.rawValue), "state": .string(state.rawValue), "since": .integer(since),
    ]
    if countsFrom != since { object["countsFrom"] = .integer(countsFrom) }
    if isOrdered { object["ordered"] = true }
    object["maxPerSecond"] = maxPerSecond.map { .integer($0) }
    object["maxConcurrent"] = maxConcurrent.map { .integer($0) }
    object["originals"] = originals.map { .string($0) }
    object["reason"] = reason.map { .string($0) }
    object["secrets"] = .array(secrets.map { ["secret": .string($0.secret.text), "madeAt": .integer($0.madeAt)] })
    return object
  }

  /// Reads that form; nil for anything else.
  public init?(json: JSONObject) {
    guard let url = json["url"]?.stringValue, let form = json["form"]?.stringValue.flatMap(PushForm.init),
      let state = json["state"]?.stringValue.flatMap(State.init), let since = json["since"]?.int64Value,
      let secrets = json["secrets"]?.arrayValue
    else { return nil }
    self.url = url
    self.form = form
    self.state = state
    self.since = since
    countsFrom = json["countsFrom"]?.int64Value ?? since
    isOrdered = json["ordered"]?.boolValue ?? false
    maxPerSecond = json["maxPerSecond"]?.int64Value.map { Int($0) }
    maxConcurrent = json["maxConcurrent"]?.int64Value.map { Int($0) }
    originals = json["originals"]?.stringValue
    reason = json["reason"]?.stringValue
    self.secrets = secrets.compactMap { secret in
      guard let text = secret["secret"]?.stringValue, let known = WebhookSecret(text: text) else { return nil }
      return Secret(secret: known, madeAt: secret["madeAt"]?.int64Value ?? 0)
    }
  }
}

extension EndpointHealth {
  /// The same without what failed before an endpoint was enabled, or moved to another server.
  public func counted(by settings: EndpointSettings) -> EndpointHealth {
    // Builds of before wrote no period.
    let isOfBefore = period.map { $0 != settings.countsFrom } ?? (failingSince.map { $0 < settings.countsFrom } ?? false)
    var counted = self
    counted.period = settings.countsFrom
    if isOfBefore { (counted.failingSince, counted.retryAt) = (nil, nil) }
    return counted
  }

  /// As it is kept.
  public var json: [UInt8] {
    var object: JSONObject = [:]
    object["lastSuccess"] = lastSuccess.map { .integer($0) }
    object["failingSince"] = failingSince.map { .integer($0) }
    object["lastError"] = lastError.map { .string($0) }
    object["retryAt"] = retryAt.map { .integer($0) }
    object["period"] = period.map { .integer($0) }
    return JSONValue.object(object).serialized
  }

  /// Reads that form.
  public init(json: [UInt8]) {
    let value = try? JSONValue(parsing: json)
    lastSuccess = value?["lastSuccess"]?.int64Value
    failingSince = value?["failingSince"]?.int64Value
    lastError = value?["lastError"]?.stringValue
    retryAt = value?["retryAt"]?.int64Value
    period = value?["period"]?.int64Value
  }
}
