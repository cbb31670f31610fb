import Synchronization
import WireJSON

/// Attribution tokens with their scripted answers, and a log of every call.
public final class AdServicesTokens: Sendable {
  struct Token: Sendable {
    var token: String
    var createdAt: Int64
    var responses: [JSONObject]
    var used = 0
    var isRegistered = true
    var calls: [(at: Int64, status: Int)] = []

    var json: JSONValue {
      .object([
        "token": .string(token), "createdAtMilliseconds": .integer(createdAt), "registered": .bool(isRegistered),
        "calls": .array(calls.map { ["atMilliseconds": .integer($0.at), "status": .integer($0.status)] }),
      ])
    }
  }

  private struct State {
    var tokens: [String: Token] = [:]
    var order: [String] = []
    var fallback: JSONObject?
  }
  private let state = Mutex(State())

  func register(_ token: Token) {
    state.withLock { state in
      if state.tokens[token.token] == nil { state.order.append(token.token) }
      state.tokens[token.token] = token
    }
  }

  /// Sets the answer for unknown tokens; nil restores 404.
  func setFallback(_ response: JSONObject?) { state.withLock { $0.fallback = response } }

  /// The next scripted answer, or the last one after all were used, and the time of creation. An unknown token is stored, so that its calls
  /// are logged.
  func next(_ token: String, at now: Int64) -> (response: JSONObject?, createdAt: Int64) {
    state.withLock { state in
      Self.remember(token, at: now, &state)
      var entry = state.tokens[token]!
      defer { state.tokens[token] = entry }
      guard !entry.responses.isEmpty else { return (state.fallback, entry.createdAt) }
      let response = entry.responses[min(entry.used, entry.responses.count - 1)]
      entry.used += 1
      return (response, entry.createdAt)
    }
  }

  func recordCall(_ token: String, at now: Int64, status: Int) {
    state.withLock { state in
      Self.remember(token, at: now, &state)
      state.tokens[token]?.calls.append((now, status))
    }
  }

  private static func remember(_ token: String, at now: Int64, _ state: inout State) {
    guard state.tokens[token] == nil else { return }
    state.tokens[token] = Token(token: token, createdAt: now, responses: [], isRegistered: false)
    state.order.append(token)
  }

  func list(_ token: String?) -> [JSONValue] {
    state.withLock { state in state.order.filter { token == nil || $0 == token }.compactMap { state.tokens[$0]?.json } }
  }

  var count: Int { state.withLock(\.tokens.count) }

  func reset() { state.withLock { $0 = State() } }
}
