import Synchronization
import WireJSON

/// Attribution tokens with their scripted answers, and a log of the calls for each.
public final class AdServicesTokens: Sendable {
  struct Token: Sendable {
    var token: String
    /// Milliseconds since 1970.
    var createdAt: Int64
    /// The scripted answers, in their order.
    var responses: [JSONObject]
    /// The number of answers that have been used.
    var used = 0
    /// False for a token that is known only from a call.
    var isRegistered = true
    /// The time and the status of each call; the status is 0 if the connection was reset.
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
    /// The tokens in the order in which they became known.
    var order: [String] = []
    /// The scripted answer for tokens without scripted answers.
    var fallback: JSONObject?
  }
  private let state = Mutex(State())

  func register(_ token: Token) {
    state.withLock { state in
      if state.tokens[token.token] == nil { state.order.append(token.token) }
      state.tokens[token.token] = token
    }
  }

  /// Sets the answer for tokens that are not registered; nil restores 404.
  func setFallback(_ response: JSONObject?) { state.withLock { $0.fallback = response } }

  /// The next scripted answer of a token (the last one is repeated) and the time at which the token was created. An unknown token is
  /// stored, so that its calls are logged.
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

  /// Stores a token that is not known yet.
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
