import AttributionProtocol
import WireJSON

/// The result of one of doctor's checks.
struct DoctorFinding: Sendable, Hashable {
  enum State: String, Sendable, Hashable { case ok, warning, failed }

  /// What was checked: a service, or what several services share: `redis`, `services`, `queues` or `feed`.
  let place: String
  /// The name of the check, such as `ready`.
  let check: String
  let state: State
  /// The result in words.
  let found: String
  /// What the operator can do about it.
  let advice: String?
  /// The command's exit code if this finding determines it.
  let code: Int32

  init(_ place: String, _ check: String, _ state: State, _ found: String, advice: String? = nil, code: Int32 = ExitStatus.negative.rawValue)
  {
    self.place = place
    self.check = check
    self.state = state
    self.found = found
    self.advice = advice
    self.code = code
  }

  /// Converts a finding that a service reported about itself.
  init(_ finding: Finding, by service: ServiceName) {
    let check = finding.subject.map { "\(finding.check): \($0)" } ?? finding.check
    self.init(service.rawValue, check, State(rawValue: finding.state) ?? .warning, finding.found, advice: finding.advice)
  }

  /// The same finding for another place.
  func at(_ place: String) -> DoctorFinding { DoctorFinding(place, check, state, found, advice: advice, code: code) }

  var json: JSONObject {
    var object: JSONObject = [
      "place": .string(place), "check": .string(check), "state": .string(state.rawValue), "found": .string(found),
    ]
    object["advice"] = advice.map { .string($0) }
    return object
  }
}

/// The exit codes of doctor, in addition to those of all commands (``ExitStatus``). Those from 12 on are the results of a test notification
/// (``TestNotificationCheck``).
enum DoctorCode {
  static let serviceUnavailable: Int32 = 10
  static let tokenRefused: Int32 = 11

  static let explanations: [(code: Int32, meaning: String)] = [
    (serviceUnavailable, "a service does not answer"), (tokenRefused, "a service refuses the token"),
    (12, "Apple refuses the app's key (401)"), (13, "no notification URL is set in App Store Connect"),
    (14, "Apple's server does not answer"),
    (15, "Apple's rate limit is used up"), (16, "Apple has no delivery status yet"), (17, "the app's configuration is wrong"),
    (20, "Apple: the TLS handshake failed"), (21, "Apple: timed out"), (22, "Apple: no connection (name, address, port, firewall)"),
    (23, "Apple: redirect loop"), (24, "Apple: an HTTP status other than 200 to 206"),
    (25, "Apple: the answer is not valid HTTP"), (26, "Apple: another error"),
    (30, "the test notification arrived, but verifier rejected it"),
    (31, "Apple delivered the test notification, but it is not on the feed: it went to another system, or verifier is late"),
  ]
}
