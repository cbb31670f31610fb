import AppStore
import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// Requests of the App Store for retention messages, which ingest has answered before (`RetentionResponder` there).
extension VerificationWorker {
  /// Publishes an event about a request and its answer. A request that cannot be verified is rejected without an event, whatever process
  /// queued it.
  func retention(_ lease: LeasedMessage) -> WorkOutcome {
    guard let record = RetentionRecord(body: lease.message.body), let app = lease.message.attributes[RetentionRecord.bundleIdAttribute]
    else {
      return .deadLetter(error: "the message is not a request for a retention message")
    }
    // Revocation is not checked: ingest has answered the request without it, and the event reports that answer.
    let verdict = signedData.offlineVerdict(
      on: record.signedPayload, kind: .realtimeRequest, expecting: SignedDataExpectation(bundleId: app), now: WallClock.now())
    guard verdict.valid, let payload = verdict.payload,
      let request = try? RealtimeRequest(validating: payload, receivedAt: lease.message.receivedAt)
    else {
      return .complete(Completion(state: .rejected, events: [], reason: verdict.reason?.rawValue ?? "malformed"))
    }
    var data = common(lease)
    data["environment"] = .string(request.environment)
    data["requestIdentifier"] = .string(request.requestIdentifier)
    data["originalTransactionId"] = .string(request.originalTransactionId)
    data["request"] = .object(payload)
    data["answer"] = .object(record.answer)
    data["decision"] = .object(record.decision)
    verifiedMetric.add(lease.message.kind, request.environment)
    let id = request.naturalKey
    return .complete(
      Completion(
        state: .verified, naturalKey: id,
        events: [
          EventRecord(
            id: id, type: EventType.retentionDecided.rawValue, json: event(id, .retentionDecided, subject: app, data),
            attributes: EventAttributes(appAppleId: request.appAppleId, bundleId: app, environment: request.environment))
        ]))
  }
}
