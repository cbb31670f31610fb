import RedisClient

/// The sizes of the queues, minute by minute, for plots.
///
/// Every process that runs it tries to write a snapshot of the queues into the hash of the hour each minute; the first one does.
public struct QueueHistory: Sendable {
  /// A snapshot of the queues in one minute.
  public struct Moment: Sendable, Hashable {
    /// The start of the minute, milliseconds since 1970.
    public let start: Int64
    public let queues: [QueueSnapshot]
  }

  /// The number of minutes that are stored.
  public static let storedMinutes = CountPeriod.minute.storedPeriods

  private let administration: QueueAdministration
  private var deliveries: DeliveryQueue { administration.deliveries }

  public init(deliveries: DeliveryQueue) { administration = QueueAdministration(deliveries: deliveries) }

  /// Takes a snapshot every minute until its task is cancelled. A snapshot that fails is left out.
  public func run() async {
    let minute = CountPeriod.minute.milliseconds
    while !Task.isCancelled {
      let now = DeliveryQueue.now
      try? await recordSnapshot(at: now)
      // A random delay spreads the processes.
      do { try await Task.sleep(for: .milliseconds(minute - now % minute + .random(in: 0...minute / 10))) } catch { return }
    }
  }

  /// Writes the snapshot of the current minute, unless another process has begun to write it.
  func recordSnapshot(at now: Int64) async throws(QueueError) {
    let minute = CountPeriod.minute.number(at: now)
    let key = RedisArgument.string(Keys.queueHistory(CountPeriod.hour.number(at: now)))
    // The empty text claims the minute.
    guard try await deliveries.send(["HSETNX", key, .integer(minute), ""]).integer == 1 else { return }
    _ = try await deliveries.send(["EXPIRE", key, .integer(CountPeriod.minute.expirySeconds + CountPeriod.hour.milliseconds / 1000)])
    var lines: [String] = []
    for queue in QueueName.allCases { lines.append(Self.line(try await administration.snapshot(queue))) }
    _ = try await deliveries.send(["HSET", key, .integer(minute), .string(lines.joined(separator: "\n"))])
  }

  /// The snapshots of the last minutes, oldest first; minutes without a snapshot are left out.
  public func moments(last count: Int) async throws(QueueError) -> [Moment] {
    let newest = CountPeriod.minute.number(at: DeliveryQueue.now)
    let oldest = newest - Int64(count) + 1
    let hours =
      CountPeriod.minute.milliseconds * oldest / CountPeriod.hour.milliseconds...CountPeriod.minute.milliseconds * newest
      / CountPeriod.hour.milliseconds
    var moments: [Moment] = []
    for hour in hours {
      let words = try await deliveries.send(["HGETALL", .string(Keys.queueHistory(hour))]).array ?? []
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        guard let minute = words[index].string.flatMap({ Int64($0) }), (oldest...newest).contains(minute) else { continue }
        let queues = (words[index + 1].string ?? "").split(separator: "\n").compactMap(Self.snapshot)
        if !queues.isEmpty { moments.append(Moment(start: minute * CountPeriod.minute.milliseconds, queues: queues)) }
      }
    }
    return moments.sorted { $0.start < $1.start }
  }

  /// A line such as `intake 5 0 2 1 3.5 -`: the number of ready, leased and delayed messages and of dead letters, the age of the oldest
  /// message in seconds or `-`, and `paused` or `-`.
  static func line(_ snapshot: QueueSnapshot) -> String {
    let age = snapshot.oldestAgeSeconds.map { "\($0)" } ?? "-"
    return "\(snapshot.queue.rawValue) \(snapshot.depth) \(snapshot.inFlight) \(snapshot.delayed) \(snapshot.dead) \(age) "
      + (snapshot.paused ? "paused" : "-")
  }

  /// Returns nil if the line is invalid or names an unknown queue.
  static func snapshot(_ line: some StringProtocol) -> QueueSnapshot? {
    let parts = line.split(separator: " ")
    guard parts.count == 7, let queue = QueueName(rawValue: String(parts[0])), let depth = Int64(parts[1]), let inFlight = Int64(parts[2]),
      let delayed = Int64(parts[3]), let dead = Int64(parts[4])
    else { return nil }
    return QueueSnapshot(
      queue: queue, depth: depth, inFlight: inFlight, delayed: delayed, dead: dead, oldestAgeSeconds: Double(parts[5]),
      paused: parts[6] == "paused")
  }
}
