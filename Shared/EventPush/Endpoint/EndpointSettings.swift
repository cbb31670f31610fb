import AttributionQueue
public import WireJSON

/// The push settings of a subscription, which are stored as JSON in ``EventSubscription/push``.
public struct EndpointSettings: Sendable, Hashable {
  /// The state of an endpoint. Only an enabled one is posted to.
  public enum State: String, Sendable, Hashable, CaseIterable {
    case enabled
    /// The endpoint failed for too long.
    case disabled
    /// The endpoint answered 410.
    case gone
  }

  /// A secret and the time at which it was created.
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
  /// The greatest number of requests per second; nil for no limit.
  public var maxPerSecond: Int?
  /// The greatest number of concurrent requests; nil for ``defaultConcurrency``.
  public var maxConcurrent: Int?
  /// The claim because of which the feed stores the bytes that Apple sent, for ``PushForm/original``: ``EventFeed/keepOriginals(for:)``.
  public var originals: String?
  /// The secrets with which each request is signed, newest first: one, or two while the older one is being replaced.
  public private(set) var secrets: [Secret]
  public private(set) var state = State.enabled
  /// The time of the last change of ``state``, milliseconds since 1970.
  public private(set) var since: Int64
  /// Failures before this time do not count, because the endpoint was enabled or got another URL at this time; milliseconds since 1970.
  public private(set) var countsFrom: Int64
  /// The reason why the endpoint is not enabled.
  public private(set) var reason: String?

  /// The settings of a new endpoint, with its first secret.
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

  /// True if both have the same URL, form, order and limits. The state and the secrets may differ.
  public func hasSameRequest(as other: EndpointSettings) -> Bool {
    url == other.url && form == other.form && isOrdered == other.isOrdered && maxPerSecond == other.maxPerSecond
      && (maxConcurrent ?? Self.defaultConcurrency) == (other.maxConcurrent ?? Self.defaultConcurrency)
  }

  /// Enables the endpoint and forgets earlier failures, even if it was already enabled.
  public mutating func enable(now: Int64) {
    countsFrom = now
    guard state != .enabled else { return }
    (state, since, reason) = (.enabled, now, nil)
  }

  /// Changes the URL and forgets earlier failures, because they were those of another server.
  public mutating func move(to url: String, now: Int64) {
    guard url != self.url else { return }
    (self.url, countsFrom) = (url, now)
  }

  /// True if the endpoint was neither moved nor enabled nor disabled between the two, so that failures under one also count under the
  /// other.
  func hasSamePeriod(as other: EndpointSettings) -> Bool {
    (state, since, countsFrom, url) == (other.state, other.since, other.countsFrom, other.url)
  }

  /// Ends posting.
  mutating func end(_ state: State, reason: String, now: Int64) { (self.state, since, self.reason) = (state, now, reason) }

  /// Adds a secret. Until ``endOlderSecrets()``, requests are signed with it and with the newest of the earlier ones.
  public mutating func add(_ secret: WebhookSecret, now: Int64) {
    secrets = [Secret(secret: secret, madeAt: now)] + secrets.prefix(1)
  }

  /// Removes all secrets but the newest.
  public mutating func endOlderSecrets() { secrets = Array(secrets.prefix(1)) }

  /// The settings as they are stored.
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

  /// Reads stored settings; nil if they are invalid.
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
  /// The health without failures from before the endpoint was enabled or moved.
  public func counted(by settings: EndpointSettings) -> EndpointHealth {
    // Older builds wrote no period.
    let isOutdated = period.map { $0 != settings.countsFrom } ?? (failingSince.map { $0 < settings.countsFrom } ?? false)
    var counted = self
    counted.period = settings.countsFrom
    if isOutdated { (counted.failingSince, counted.retryAt) = (nil, nil) }
    return counted
  }

  /// The health as it is stored.
  public var json: [UInt8] {
    var object: JSONObject = [:]
    object["lastSuccess"] = lastSuccess.map { .integer($0) }
    object["failingSince"] = failingSince.map { .integer($0) }
    object["lastError"] = lastError.map { .string($0) }
    object["retryAt"] = retryAt.map { .integer($0) }
    object["period"] = period.map { .integer($0) }
    return JSONValue.object(object).serialized
  }

  /// Reads a stored health. Missing and invalid members become nil.
  public init(json: [UInt8]) {
    let value = try? JSONValue(parsing: json)
    lastSuccess = value?["lastSuccess"]?.int64Value
    failingSince = value?["failingSince"]?.int64Value
    lastError = value?["lastError"]?.stringValue
    retryAt = value?["retryAt"]?.int64Value
    period = value?["period"]?.int64Value
  }
}
