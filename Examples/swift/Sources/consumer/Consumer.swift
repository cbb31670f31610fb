import AttributionClient
import AttributionProtocol
import Dispatch
import Foundation

/// Prints the events of a subscription: `consumer NAME [--events N]`.
@main
struct Consumer {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    guard let name = words.first, words.count == 1 || words.count == 3 && words.dropFirst().first == "--events" else {
      FileHandle.standardError.write(Data("usage: consumer NAME [--events N]\n".utf8))
      exit(64)
    }
    let limit = words.count == 3 ? Int(words.last ?? "") : nil
    let environment = ProcessInfo.processInfo.environment
    let token = try environment["ATTRIBUTION_TOKEN_FILE"].map { try String(contentsOfFile: $0, encoding: .utf8) }
    let client = AttributionClient(
      at: [.verifier: environment["ATTRIBUTION_VERIFIER_URL"] ?? "http://127.0.0.1:8092"],
      token: token?.trimmingCharacters(in: .whitespacesAndNewlines))

    let reading = Task {
      do throws(RPCError) {
        _ = try await client.events.createSubscription(CreateSubscriptionRequest(name: name))
      } catch {
        // One that was made with a filter or in another way is read as it is.
        guard error.code == .alreadyExists else { throw error }
      }
      var count = 0
      for try await received in client.events.received(from: name) {
        let event = received.event
        FileHandle.standardOutput.write(Data("\(event.id) \(event.type) \(event.subject ?? "-")\n".utf8))
        count += 1
        // A loop whose task was cancelled ends when the server was told of the last event.
        if count == limit { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    let interrupted = DispatchSource.makeSignalSource(signal: SIGINT)
    signal(SIGINT, SIG_IGN)
    // Sendable: a closure of `main` would otherwise belong to the main actor, but the handler runs on a queue of Dispatch.
    interrupted.setEventHandler { @Sendable in reading.cancel() }
    interrupted.resume()
    defer { interrupted.cancel() }
    try await reading.value
  }
}
