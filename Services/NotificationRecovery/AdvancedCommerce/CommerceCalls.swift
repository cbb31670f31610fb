import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime
import WireJSON

/// Makes the calls of the Advanced Commerce API, each once under its `requestReferenceId`.
///
/// ``perform(_:bundleId:environment:transactionId:body:_:)`` records a call (``CommerceStore``), sends it, and records Apple's answer. A
/// repeat of an answered call gets the recorded answer. If the outcome of a call is unknown, the purchase is looked up at Apple before the
/// call is sent again. The file `CommerceMessages.swift` connects the six handlers with this type.
struct CommerceCalls: Sendable {
  /// The response to a call, and whether an earlier call had executed the request.
  struct Outcome: Sendable {
    let response: AppStoreCalls.Response
    let isRepeated: Bool
  }

  /// The part of the caller's time that is reserved for looking the purchase up, if the outcome of the call is unknown.
  private static let lookUpTime: Duration = .seconds(2)

  let calls: AppStoreCalls
  let store: CommerceStore

  /// Makes the call that a request describes, or returns the recorded answer if it was made before.
  func perform(
    _ operation: AdvancedCommerceRequest.Operation, bundleId: String?, environment: String?, transactionId: String?, body: JSONObject?,
    _ context: RPCContext
  ) async throws(RPCError) -> Outcome {
    let app = try calls.app(bundleId)
    let id = try calls.transactionId("transactionId", transactionId)
    let server = try calls.server(environment, of: app)
    guard let body else { throw .invalidArgument(field: "request", "is missing") }
    let request = try RetentionCalls.checked(inside: "request") { () throws(RequestRefusal) in
      try AdvancedCommerceRequest(operation, body, server: server)
    }
    return try await ExclusiveCall(redis: store.redis).run(
      CommerceStore.exclusiveKey(app.bundleId, request.requestReferenceId), until: context.deadline,
      otherwise: .unavailable(
        "another call is making the same request", reason: "REQUEST_UNDER_WAY", retryAfter: .seconds(2))
    ) { () async throws(RPCError) in try await perform(request, id, app, server, context) }
  }

  private func perform(
    _ request: AdvancedCommerceRequest, _ id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> Outcome {
    let known: CommerceRecord?
    do throws(RedisError) { known = try await store.record(app.bundleId, request.requestReferenceId) } catch { throw RPCError(error) }
    var record = CommerceRecord(
      bundleId: app.bundleId, reference: request.requestReferenceId, environment: server?.rawValue ?? "",
      operation: request.operation.rawValue, transactionId: id, request: request.body, state: .sending, startedAt: WallClock.now())
    var mayHaveBeenSent = false
    // A refused request changed nothing at Apple, so its identifier may be used for another request.
    if let known, known.state != .refused {
      guard known.isRepeated(by: request, transactionId: id, server: server) else {
        throw .failedPrecondition(
          "another request was made with this request.requestInfo.requestReferenceId", reason: "REQUEST_REFERENCE_REUSED")
      }
      if known.state == .answered, let response = known.response, let server = AppStoreServer(rawValue: known.environment) {
        return Outcome(response: AppStoreCalls.Response(server: server, body: response, decoded: known.decoded), isRepeated: true)
      }
      record = known
      mayHaveBeenSent = true
      do throws(RPCError) {
        let current = try await currentState(request, id, app, server, since: record.startedAt, context)
        record.purchase = current?.response.purchase ?? record.purchase
        if let current, current.isDone { return try await end(&record, current.response, isRepeated: true) }
      } catch {
        // If Apple does not know the purchase, the earlier call cannot have changed it, and the request is sent again.
        guard error.code == .notFound else { throw error }
      }
    } else {
      // If this write fails, the call is not sent: without a record, a repeat would not know that the call may have been made.
      try await write(record)
    }
    return try await send(request, &record, mayHaveBeenSent: mayHaveBeenSent, app, server, context)
  }

  private func send(
    _ request: AdvancedCommerceRequest, _ record: inout CommerceRecord, mayHaveBeenSent: Bool, _ app: DeploymentConfiguration.App,
    _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> Outcome {
    let response: AppStoreCalls.Response
    do throws(AppStoreServerAPIError) {
      response = try await calls.ask(
        request.operation.endpoint, app: app, server: server, path: [record.transactionId], body: request.body,
        deadline: context.deadline - Self.lookUpTime)
    } catch {
      record.lastError = "\(error)"
      let failure = RPCError(error, now: WallClock.now())
      record.errorCode = error.errorCode
      if error.isOutcomeUnknown || mayHaveBeenSent {
        let isRepetition = error.errorCode == AppStoreServerAPIErrorRule.repeatedRequestReference
        let result = await lookUp(request, record, app, server, context)
        record.purchase = result.purchase ?? record.purchase
        if case .found(let current) = result, current.isDone || isRepetition {
          return try await end(&record, current.response, isRepeated: true)
        }
        // The call is recorded as refused only if Apple refuses the request itself and no earlier call has executed it.
        guard error.classification == .permanent, !isRepetition, result.showsNotExecuted(request) else {
          try await write(record)
          throw failure
        }
      }
      record.state = .refused
      record.completedAt = WallClock.now()
      try await write(record)
      throw failure
    }
    if let problem = response.problems.first(where: { !$0.isUsed }) {
      // Apple has executed the call, but its response cannot be verified. A repeat looks the purchase up.
      record.lastError = "\(problem)"
      try await write(record)
      throw RPCError(problem)
    }
    return await endQuietly(&record, response)
  }

  /// Stores Apple's answer. If Redis is unavailable, the answer is returned nevertheless, and a repeat looks the purchase up.
  private func endQuietly(_ record: inout CommerceRecord, _ response: AppStoreCalls.Response) async -> Outcome {
    do throws(RPCError) { return try await end(&record, response, isRepeated: false) } catch {
      return Outcome(response: response, isRepeated: false)
    }
  }

  /// Records a call as answered.
  private func end(_ record: inout CommerceRecord, _ response: AppStoreCalls.Response, isRepeated: Bool) async throws(RPCError) -> Outcome {
    record.state = .answered
    record.environment = response.server.rawValue
    record.completedAt = WallClock.now()
    record.purchase = response.purchase ?? record.purchase
    record.response = response.body
    record.decoded = response.decoded
    record.lastError = nil
    record.errorCode = nil
    try await write(record)
    return Outcome(response: response, isRepeated: isRepeated)
  }

  private func write(_ record: CommerceRecord) async throws(RPCError) {
    do throws(RedisError) { try await store.write(record) } catch { throw RPCError(error) }
  }

  // MARK: Looking up

  /// The result of looking up whether a call was executed.
  private enum LookUpResult {
    /// The purchase's current state, and whether it is what was requested.
    case found((response: AppStoreCalls.Response, isDone: Bool))
    /// Apple does not know the purchase.
    case noPurchase
    case unknown

    /// Nil if the purchase was not found.
    var purchase: String? {
      guard case .found(let found) = self else { return nil }
      return found.response.purchase
    }

    /// True if the result proves that the request was not executed.
    func showsNotExecuted(_ request: AdvancedCommerceRequest) -> Bool {
      switch self {
      case .found(let found): request.isVisibleInPurchase && !found.isDone
      case .noPurchase: true
      case .unknown: false
      }
    }
  }

  private func lookUp(
    _ request: AdvancedCommerceRequest, _ record: CommerceRecord, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?,
    _ context: RPCContext
  ) async -> LookUpResult {
    do throws(RPCError) {
      let current = try await currentState(request, record.transactionId, app, server, since: record.startedAt, context)
      return current.map { .found($0) } ?? .unknown
    } catch { return error.code == .notFound ? .noPurchase : .unknown }
  }

  /// Looks the purchase up. Returns its current state in the format of a response to the call, and whether this state is what was
  /// requested; nil if Apple's answer contains no transaction.
  private func currentState(
    _ request: AdvancedCommerceRequest, _ id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, since sentAt: Int64,
    _ context: RPCContext
  ) async throws(RPCError) -> (response: AppStoreCalls.Response, isDone: Bool)? {
    let info = try await calls.ask(.getTransactionInfo, app: app, server: server, path: [id], context)
    guard let transaction = info.decoded.first, let original = transaction["originalTransactionId"]?.stringValue else { return nil }
    guard transaction["type"]?.stringValue == "Auto-Renewable Subscription" else {
      return (info, request.isDone(transactionInfo: transaction, renewalInfo: nil, sentAt: sentAt))
    }
    let statuses = try await calls.ask(.getAllSubscriptionStatuses, app: app, server: info.server, path: [id], context)
    for (subscription, status) in StatusObservation.entries(in: statuses.body) where subscription == original {
      guard let newest = statuses.payload(of: status.signedTransactionInfo) else { continue }
      var body: JSONObject = ["signedTransactionInfo": .string(status.signedTransactionInfo)]
      var decoded = [newest]
      var renewal: JSONObject?
      if let jws = status.signedRenewalInfo, let payload = statuses.payload(of: jws) {
        body["signedRenewalInfo"] = .string(jws)
        decoded.append(payload)
        renewal = payload
      }
      let response = AppStoreCalls.Response(server: info.server, body: body, decoded: decoded)
      return (response, request.isDone(transactionInfo: newest, renewalInfo: renewal, sentAt: sentAt))
    }
    return (info, request.isDone(transactionInfo: transaction, renewalInfo: nil, sentAt: sentAt))
  }
}

extension AppStoreCalls.Response {
  /// The original transaction id of the purchase that the response is about.
  fileprivate var purchase: String? { decoded.lazy.compactMap { $0["originalTransactionId"]?.stringValue }.first }
}
