/// Sends postbacks as devices do: up to nine times within nine days, until the answer is 200 (*Receiving ad attributions and postbacks*).
public struct DeviceSender: Sendable {
  /// The simulated milliseconds between the nine attempts: a day each.
  static let waits = [Double](repeating: 24 * 3600 * 1000, count: 8)

  let http: OutgoingHTTP
  let retryingSender: RetryingSender
  let log: DeliveryLog

  /// Sends a postback in the background. Returns the id of the delivery in the log.
  ///
  /// - Parameter awaitingFirst: true to return after the first attempt.
  func send(_ body: String, kind: String, identifier: String, to url: OutgoingURL, awaitingFirst: Bool) async -> Int {
    let id = log.open(kind: kind, identifier: identifier, url: url.description)
    let bytes = Array(body.utf8)
    await retryingSender.deliver(waits: Self.waits, awaitingFirst: awaitingFirst) { [self] in
      let response = await http.post(bytes, to: url, userAgent: "Apple-Simulator-Device/1")
      log.record(id, at: retryingSender.time.now, response)
      return response.status == 200
    }
    return id
  }
}
