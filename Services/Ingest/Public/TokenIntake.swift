import AppleAttribution
import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// Accepts AdServices attribution tokens from apps and SDKs into the queue `tokens`: as a JSON object, or as bare text with the other fields in
/// the query; the body shows which, whatever its content type. A device that could not get a token reports its error instead, which is only
/// counted.
struct TokenIntake: Sendable {
  let deliveries: DeliveryQueue
  /// The rule for the time of the first call to Apple.
  let rule: AdServicesRetryRule
  let clock: ScaledClock
  let metrics: IngestMetrics
  /// True if tokens of an app are accepted.
  let acceptsTokens: @Sendable (_ bundleId: String) -> Bool

  /// - Parameter bundleId: the app that the URL names; nil if it names none. If it names one, the request may omit the app but must not
  ///   name another.
  func receive(_ request: PublicHTTPRequest, bundleId: String?) async -> PublicHTTPResponse {
    let submission: TokenSubmission
    let report: ATTStatusReport
    do {
      if request.isObject, let error = try deviceError(request, bundleId) { return error }
      (submission, report) = request.isObject ? try json(request, bundleId) : try text(request, bundleId)
      try check(submission.claims.bundleId)
    } catch {
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    // The rule does not end the exchange here: `TokenSubmission` refuses expired tokens.
    var notBefore: Int64?
    if case .call(let at) = rule.start(createdAt: submission.claims.createdAt, now: request.receivedAt),
      at > request.receivedAt
    {
      notBefore = at
    }
    do {
      var accept = AcceptRequest(
        queue: .tokens, idempotencyKey: submission.idempotencyKey, naturalKey: submission.idempotencyKey,
        message: request.message(
          kind: TokenSubmission.messageKind, body: Array(submission.token.text.utf8),
          attributes: submission.claims.attributes),
        notBefore: notBefore, deadline: clock.real(submission.claims.deadline, since: request.receivedAt))
      let outcome = try await deliveries.accept(accept)
      if outcome.isDuplicate {
        // What this submission adds to the earlier one follows in a message of its own.
        accept.idempotencyKey = submission.additionKey
        accept.message.kind = TokenSubmission.additionKind
        accept.message.body = []
        accept.message.attributes[TokenSubmission.exchangeAttribute] = outcome.id.description
        accept.notBefore = nil
        _ = try await deliveries.accept(accept)
      }
      metrics.received(report)
      return .receipt(outcome, status: 202)
    } catch {
      return .notAccepted(error)
    }
  }

  /// The response to an error that a device reports instead of a token; nil if the request reports none. The error is counted, and nothing
  /// is queued.
  private func deviceError(_ request: PublicHTTPRequest, _ urlBundleId: String?) throws(FieldError) -> PublicHTTPResponse? {
    let body = try request.object()
    guard let value = body["attributionError"], value != .null else { return nil }
    guard body["token"] == nil || body["token"] == .null else {
      throw FieldError(field: "attributionError", reason: "must not be given together with a token")
    }
    guard let error = value.int64Value.flatMap({ DeviceTokenError(rawValue: $0) }) else {
      throw FieldError(field: "attributionError", reason: "must be 1 (network), 2 (internal) or 3 (platform not supported)")
    }
    guard let bundleId = try app(try string("bundleId", in: body), urlBundleId), !bundleId.isEmpty else {
      throw FieldError(field: "bundleId", reason: "must be the app's bundle id")
    }
    try check(bundleId)
    metrics.deviceHadNoToken(error.name, bundleId: bundleId)
    return .json(202, ["status": "counted", "retry": .bool(error.mayBeTriedAgain)])
  }

  /// The app that the request or the URL names. Throws if they name different apps.
  private func app(_ requestBundleId: String?, _ urlBundleId: String?) throws(FieldError) -> String? {
    guard let requestBundleId, let urlBundleId, !requestBundleId.isExactly(urlBundleId) else { return requestBundleId ?? urlBundleId }
    throw FieldError(field: "bundleId", reason: "is not the app of this URL")
  }

  private func check(_ bundleId: String) throws(FieldError) {
    guard acceptsTokens(bundleId) else { throw FieldError(field: "bundleId", reason: "is not a configured app") }
  }

  private func json(_ request: PublicHTTPRequest, _ urlBundleId: String?) throws(FieldError) -> (TokenSubmission, ATTStatusReport) {
    let body = try request.object()
    let report = ATTStatusReport(in: body)
    return (
      try TokenSubmission(
        token: try string("token", in: body), bundleId: try app(try string("bundleId", in: body), urlBundleId),
        installId: try string("installId", in: body), attStatus: report.isStated ? report.status : nil,
        requestedAt: DeviceTime.milliseconds(body["requestedAt"]), receivedAt: request.receivedAt), report
    )
  }

  private func text(_ request: PublicHTTPRequest, _ urlBundleId: String?) throws(FieldError) -> (TokenSubmission, ATTStatusReport) {
    let report = ATTStatusReport(request.parameter("attStatus"))
    guard let token = String(validating: request.body, as: UTF8.self) else {
      throw FieldError(field: "token", reason: "must be ASCII")
    }
    guard !Self.isFormOrArray(request.body) else {
      throw FieldError(field: "token", reason: "must be the only text of the body, or a member of a JSON object")
    }
    return (
      try TokenSubmission(
        token: token, bundleId: try app(request.parameter("bundleId"), urlBundleId), installId: request.parameter("installId"),
        attStatus: report.isStated ? report.status : nil,
        requestedAt: request.parameter("requestedAt").flatMap { DeviceTime.milliseconds($0) }, receivedAt: request.receivedAt), report
    )
  }

  /// True for the fields of a form and for a JSON array: in Base64, `=` is only at the end, where quotes may follow.
  private static func isFormOrArray(_ body: [UInt8]) -> Bool {
    let text = body.drop { $0 <= UInt8(ascii: " ") }
    return text.first == UInt8(ascii: "[")
      || text.reversed().drop { $0 <= UInt8(ascii: " ") || "=\"'".utf8.contains($0) }.contains(UInt8(ascii: "="))
  }

  private func string(_ name: String, in body: JSONObject) throws(FieldError) -> String? {
    switch body[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw FieldError(field: name, reason: "must be a string")
    }
  }
}
