import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Answers the App Store's requests for retention messages (Get Retention Message). It verifies each request; ``RetentionResponder``
/// decides the answer.
struct RetentionIntake: Sendable {
  let live: LiveRetention
  let responder: RetentionResponder
  let metrics: RetentionMetrics

  func receive(_ request: PublicHTTPRequest, bundleId: String) async -> PublicHTTPResponse {
    let received = ContinuousClock.now
    guard let active = live.activePlan(of: bundleId) else { return .failure(.notFound("no such route")) }
    let signedPayload: String
    let realtimeRequest: RealtimeRequest
    do throws(RequestRefusal) {
      signedPayload = try RealtimeRequestBody(parsing: request.body, limits: request.jsonLimits).signedPayload
    } catch {
      metrics.refused("malformed")
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    let verdict = active.verifier.verdict(
      on: signedPayload, kind: .realtimeRequest, expecting: SignedDataExpectation(bundleId: bundleId), now: request.receivedAt)
    guard verdict.valid, let payload = verdict.payload else { return refused(verdict) }
    do throws(RequestRefusal) { realtimeRequest = try RealtimeRequest(validating: payload, receivedAt: request.receivedAt) } catch {
      metrics.refused("malformed")
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    // In production, the verifier above has compared `appAppleId`. In the sandbox, Apple may send 0 in its place.
    if let expected = active.plan.app.appAppleId, let named = realtimeRequest.appAppleId, named != expected,
      realtimeRequest.environment == "Production" || named != 0
    {
      return refused(.wrongApp, field: "appAppleId")
    }
    guard request.receivedAt - realtimeRequest.signedDate <= active.settings.maxAge.milliseconds else {
      metrics.refused("stale")
      return .failure(RPCError(.permissionDenied, "signedDate: the request was signed too long ago", reason: "STALE"))
    }
    let answer = await responder.answer(
      realtimeRequest, signedPayload: signedPayload, active, request, until: received + active.settings.budget)
    return PublicHTTPResponse(status: 200, body: answer.answer)
  }

  private func refused(_ verdict: SignedDataVerdict) -> PublicHTTPResponse {
    let reason = verdict.reason ?? .malformed
    return refused(reason, field: verdict.field)
  }

  /// The response to a request that failed verification. After an error the App Store shows its default message; the text is for operators
  /// who look for the cause.
  private func refused(_ reason: SignedDataReason, field: String?) -> PublicHTTPResponse {
    metrics.refused(reason.rawValue)
    let errorReason = reason.rawValue.uppercased()
    switch reason {
    case .malformed, .malformedJWS:
      return .failure(.invalidArgument(field: field ?? "signedPayload", "is not a signed request of the App Store (\(reason.rawValue))"))
    case .appNotNamed:
      return .failure(RPCError(.permissionDenied, "appAppleId: the request does not name its app", reason: errorReason))
    case .wrongApp:
      return .failure(RPCError(.permissionDenied, "appAppleId: the request is for another app than the URL", reason: errorReason))
    case .wrongEnvironment:
      return .failure(RPCError(.permissionDenied, "environment: is not configured for the app", reason: errorReason))
    default:
      return .failure(
        RPCError(.unauthenticated, "signedPayload: the App Store did not sign it (\(reason.rawValue))", reason: errorReason))
    }
  }
}
