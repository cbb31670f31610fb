import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Answers the App Store's requests for retention messages (Get Retention Message): verifies each request and has the responder decide the
/// answer.
struct RetentionIntake: Sendable {
  let live: LiveRetention
  let responder: RetentionResponder
  let metrics: RetentionMetrics

  func receive(_ request: PublicHTTPRequest, bundleId: String) async -> PublicHTTPResponse {
    let received = ContinuousClock.now
    guard let active = live.activePlan(of: bundleId) else { return .failure(.notFound("no such route")) }
    let signedPayload: String
    let question: RealtimeRequest
    do throws(RequestRefusal) {
      signedPayload = try RealtimeRequestBody(parsing: request.body, limits: request.jsonLimits).signedPayload
    } catch {
      metrics.refused("malformed")
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    let verdict = active.verifier.verdict(
      on: signedPayload, kind: .realtimeRequest, expecting: SignedDataExpectation(bundleId: bundleId), now: request.receivedAt)
    guard verdict.valid, let payload = verdict.payload else { return refused(verdict) }
    do throws(RequestRefusal) { question = try RealtimeRequest(validating: payload) } catch {
      metrics.refused("malformed")
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    // In production, the verifier has compared the id. In the sandbox, Apple may leave it out, as 0.
    if let expected = active.plan.app.appAppleId, question.appAppleId != expected,
      question.environment == "Production" || question.appAppleId != 0
    {
      return refused(.wrongApp, field: "appAppleId")
    }
    guard request.receivedAt - question.signedDate <= active.settings.maxAge.milliseconds else {
      metrics.refused("stale")
      return .failure(RPCError(.permissionDenied, "signedDate: the request was signed too long ago", reason: "STALE"))
    }
    let answer = await responder.answer(
      question, signedPayload: signedPayload, active, request, until: received + active.settings.budget)
    return PublicHTTPResponse(status: 200, body: answer.answer)
  }

  private func refused(_ verdict: SignedDataVerdict) -> PublicHTTPResponse {
    let reason = verdict.reason ?? .malformed
    return refused(reason, field: verdict.field)
  }

  /// Only the App Store calls this route, and it shows its default message after an error. The answer's text helps operators to find the
  /// cause.
  private func refused(_ reason: SignedDataReason, field: String?) -> PublicHTTPResponse {
    metrics.refused(reason.rawValue)
    let word = reason.rawValue.uppercased()
    switch reason {
    case .malformed, .malformedJWS:
      return .failure(.invalidArgument(field: field ?? "signedPayload", "is not a signed request of the App Store (\(reason.rawValue))"))
    case .wrongApp:
      return .failure(RPCError(.permissionDenied, "appAppleId: the request is of another app than the URL", reason: word))
    case .wrongEnvironment:
      return .failure(RPCError(.permissionDenied, "environment: the app is not configured for it", reason: word))
    default:
      return .failure(
        RPCError(.unauthenticated, "signedPayload: the App Store did not sign it (\(reason.rawValue))", reason: word))
    }
  }
}
