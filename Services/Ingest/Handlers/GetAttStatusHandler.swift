import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `GetAttStatus`: returns the last known App Tracking Transparency status of an install, an app on a device.
struct GetAttStatusHandler: RPCHandler {
  typealias Method = IngestService.GetAttStatus

  let store: SessionStore
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let hash: String
    do throws(FieldError) {
      hash = SessionSubmission.installHash(
        bundleId: try SessionSubmission.identifier("bundleId", request.bundleId ?? ""),
        installId: try SessionSubmission.identifier("installId", request.installId ?? ""))
    } catch {
      throw .invalidArgument(field: error.field, error.reason)
    }
    let install: ATTInstall
    do { install = try await store.install(hash) } catch {
      throw .unavailable("the session store does not answer", reason: "STORE_UNAVAILABLE")
    }
    guard let record = install.record else { throw .notFound("no ATT status of this install is known") }
    var response = GetAttStatusResponse(
      attStatus: Int32(clamping: record.status.code), consent: record.status.isConsent,
      determinedAt: Timestamp(millisecondsSince1970: record.deviceTime),
      receivedAt: Timestamp(millisecondsSince1970: record.receivedAt),
      ageSeconds: Double(max(0, now() - record.receivedAt)) / 1000)
    if case .holding(let deadline) = install.waiting.phase, deadline > now() {
      response.heldUntil = Timestamp(millisecondsSince1970: deadline)
    }
    return response
  }
}
