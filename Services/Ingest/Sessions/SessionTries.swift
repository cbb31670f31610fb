import AppleAttribution
import AttributionProtocol
import WireJSON

/// The failed requests with one session, counted by host and ATT status. Redis stores them, and the session's event reports them. They
/// contain no data of the user.
struct SessionTries: Sendable, Hashable {
  /// The failed requests to one host under one status.
  struct Summary: Sendable, Hashable {
    var count: Int64
    /// The times of the first and the last request, milliseconds since 1970.
    var firstAt: Int64
    var lastAt: Int64
    /// `answered` and the HTTP status, or an error.
    var lastResult: String
  }

  /// A host, and the ATT status under which the session was sent to it.
  struct Target: Sendable, Hashable {
    let status: ATTStatus
    let host: String

    /// The name of the field in the stored hash.
    var field: String { "\(status.code) \(host)" }

    init(status: ATTStatus, host: String) {
      self.status = status
      self.host = host
    }

    /// Reads the name of a field; nil if it is damaged.
    init?(field: String) {
      let parts = field.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let code = Int64(parts[0]) else { return nil }
      self.init(status: ATTStatus(code: code), host: String(parts[1]))
    }
  }

  private(set) var summaries: [Target: Summary] = [:]

  /// The number of all failed requests.
  var count: Int64 { summaries.values.reduce(0) { $0 + $1.count } }

  init() {}

  /// Reads the stored hash; damaged fields are left out.
  init(stored: [(field: String, value: String)]) {
    for (field, value) in stored {
      let parts = value.split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false)
      guard let target = Target(field: field), parts.count == 4, let count = Int64(parts[0]), let first = Int64(parts[1]),
        let last = Int64(parts[2])
      else { continue }
      summaries[target] = Summary(count: count, firstAt: first, lastAt: last, lastResult: String(parts[3]))
    }
  }

  /// Adds a request that failed.
  mutating func add(_ target: Target, result: String, at time: Int64) {
    var summary = summaries[target] ?? Summary(count: 0, firstAt: time, lastAt: time, lastResult: result)
    summary.count += 1
    summary.lastAt = time
    summary.lastResult = result
    summaries[target] = summary
  }

  /// The requests as events report them, in the order of their first times.
  var json: JSONValue {
    let ordered = summaries.sorted { ($0.value.firstAt, $0.key.field) < ($1.value.firstAt, $1.key.field) }
    return .array(
      ordered.map { target, summary in
        [
          "host": .string(target.host), "attStatus": .integer(target.status.code), "consent": .bool(target.status.isConsent),
          "count": .integer(summary.count), "firstAt": .string(Timestamp(millisecondsSince1970: summary.firstAt).text),
          "lastAt": .string(Timestamp(millisecondsSince1970: summary.lastAt).text), "lastResult": .string(summary.lastResult),
        ]
      })
  }
}
