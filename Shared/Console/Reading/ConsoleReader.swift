import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Calls the contract's methods for a page, with the permissions of its reader.
struct ConsoleReader: Sendable {
  /// The timeout of calls to other services, so that the rest of a page need not wait longer.
  private static let patience: Duration = .seconds(3)

  let calls: PageCalls
  let services: ConsoleServices
  let cache: ResponseCache

  func may(_ method: any RPCMethod.Type) -> Bool { calls.may(method) }

  /// Calls a method of verifier, without the network.
  func here<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async -> QueryResult<Method.Response> {
    await ask(method, request, of: "verifier") { (calls) throws(RPCError) in try await calls.call(method, request) }
  }

  func signer<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async -> QueryResult<Method.Response> {
    guard let client = services.signer else { return .notice(.notConfigured("signer", "ATTRIBUTION_SIGNER_URL")) }
    return await ask(method, request, of: "signer", client)
  }

  func recovery<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async -> QueryResult<Method.Response> {
    guard let client = services.recovery else {
      return .notice(.recoveryNotConfigured)
    }
    return await ask(method, request, of: "notification-recovery", client)
  }

  private func ask<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request, of service: String, _ client: RPCClient) async
    -> QueryResult<Method.Response>
  {
    await ask(method, request, of: service) { (_) throws(RPCError) in
      try await client.call(method, request, timeout: Self.patience)
    }
  }

  private func ask<Method: RPCMethod>(
    _ method: Method.Type, _ request: Method.Request, of service: String,
    _ call: @escaping @Sendable (PageCalls) async throws(RPCError) -> Method.Response
  ) async -> QueryResult<Method.Response> {
    guard may(method) else { return .notice(.notAllowed(Method.name)) }
    let calls = calls
    do throws(RPCError) {
      return .response(
        try await cache.response("\(Method.path) \(String(decoding: request.json, as: UTF8.self))") { () throws(RPCError) in
          try await call(calls)
        })
    } catch { return .notice(Notice(error, of: service)) }
  }
}
