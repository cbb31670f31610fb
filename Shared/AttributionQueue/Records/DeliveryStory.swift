import RedisClient

/// A delivery's record and the steps that it has taken, for operators.
public struct DeliveryStory: Sendable {
  /// A state of the delivery, or a failed attempt (`attempt`), or what an unfinished message waits for (`waiting`, `delayed`).
  public enum Step: String, Sendable, Hashable {
    case accepted, attempt, waiting, delayed, verified, rejected, done, dead
  }

  public struct Entry: Sendable, Hashable {
    /// Milliseconds since 1970; nil if only the order of the steps is known.
    public let time: Int64?
    public let step: Step
    /// The error, the reason, or what the message waits for.
    public let detail: String?
  }

  public let record: DeliveryRecord
  /// Oldest first.
  public let steps: [Entry]
}

extension DeliveryQueue {
  /// The steps of a delivery; nil if it is unknown or has expired. The parts are read one after the other, so a change in between may
  /// appear in some parts and not in others.
  public func story(of id: DeliveryID) async throws(QueueError) -> DeliveryStory? {
    guard let record = try await delivery(id) else { return nil }
    var steps = [DeliveryStory.Entry(time: record.acceptedAt, step: .accepted, detail: "queue \(record.queue), \(record.kind)")]
    if let earlier = record.earlierRejection {
      steps.append(.init(time: earlier.time, step: .rejected, detail: "\(earlier.reason), published as \(earlier.eventId); judged again"))
    }
    let queue = QueueName(rawValue: record.queue)
    switch record.state {
    case .accepted:
      if let queue { steps += try await unfinished(id, queue) }
    case .dead:
      let deadLetter = try await QueueAdministration(deliveries: self).deadLetter(id, queue: queue)?.letter
      steps += Self.attempts(deadLetter?.history ?? [])
      steps.append(.init(time: record.completedAt ?? deadLetter?.diedAt, step: .dead, detail: record.lastError))
    case .verified, .rejected, .done:
      if record.attempts > 1, let error = record.lastError {
        steps.append(.init(time: nil, step: .attempt, detail: "the last of \(record.attempts - 1) failed attempts: \(error)"))
      }
      let step: DeliveryStory.Step = record.state == .verified ? .verified : record.state == .rejected ? .rejected : .done
      steps.append(.init(time: record.completedAt, step: step, detail: record.reason))
    }
    return DeliveryStory(record: record, steps: steps)
  }

  /// The attempts of an unfinished message, and what it waits for.
  private func unfinished(_ id: DeliveryID, _ queue: QueueName) async throws(QueueError) -> [DeliveryStory.Entry] {
    let packed = try await send(["HGET", .string(Keys.payloads(queue, id.shard)), .string(id.description)]).bytes
    let history = packed.flatMap { PackedPayload($0) }?.history ?? ""
    var steps = Self.attempts(history.split(separator: "\n").map(String.init))
    if let due = try await send(["ZSCORE", .string(Keys.delayed(queue, id.shard)), .string(id.description)]).string {
      if let time = Double(due), time.isFinite {
        steps.append(.init(time: Int64(exactly: time.rounded()), step: .delayed, detail: "worked again at this time"))
      } else {
        steps.append(.init(time: nil, step: .waiting, detail: "for an earlier message of the same purchase"))
      }
    } else if queue.isWorkedByDeadline,
      let deadline = try await send(["ZSCORE", .string(Keys.byDeadline(queue, id.shard)), .string(id.description)]).string
    {
      let time = Double(deadline).flatMap { Int64(exactly: $0.rounded()) }
      steps.append(.init(time: time, step: .waiting, detail: "to be worked before this time"))
    } else {
      steps.append(.init(time: nil, step: .waiting, detail: "for a worker, or being worked"))
    }
    return steps
  }

  /// Parses the lines of a history: milliseconds since 1970 and the error.
  private static func attempts(_ history: [String]) -> [DeliveryStory.Entry] {
    history.map { line in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let time = Int64(parts[0]) else { return .init(time: nil, step: .attempt, detail: line) }
      return .init(time: time, step: .attempt, detail: String(parts[1]))
    }
  }
}
