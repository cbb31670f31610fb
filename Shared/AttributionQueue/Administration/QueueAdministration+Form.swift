import RedisClient

/// A worker whose build does not know the newest form of the store.
public struct OlderWorker: Sendable, Hashable {
  public let queue: QueueName
  public let name: String
  /// The newest form that the worker's build knows.
  public let form: Int
  /// The time since the worker last requested messages; 0 for a worker that sends heartbeats.
  public let idleSeconds: Double
}

/// The form of the store, and the shards and workers that do not use it yet.
public struct StoreFormState: Sendable, Hashable {
  public let form: StoreForm
  /// The number of shards, over all queues, that are still worked in another form.
  public let shardsBehind: Int
  public let olderWorkers: [OlderWorker]
}

/// Why the form was not changed.
public enum StoreFormRefusal: Error, Sendable, Hashable {
  /// These workers do not know the form and would stop working.
  case isUnknown(to: [OlderWorker])
  case unavailable(QueueError)
}

extension QueueAdministration {
  /// The form, and the workers that do not know the newest one. A worker that was idle for two lease durations counts as ended. Redis 7.0
  /// lists a worker as a consumer only if it has leased a message.
  public func form() async throws(QueueError) -> StoreFormState {
    let form = try StoreForm(stored: try await deliveries.send(["GET", .string(Keys.form)]).string)
    var older: [OlderWorker] = []
    var shardsBehind = 0
    for queue in QueueName.allCases {
      for name in try await deliveries.send(["ZRANGE", .string(Keys.workers(queue)), "0", "-1"]).array?.compactMap(\.string) ?? [] {
        add(OlderWorker(queue: queue, name: name, form: QueueConsumer.form(ofWorker: name), idleSeconds: 0), to: &older)
      }
      for state in try await groupStates(of: queue) {
        if !queue.isWorkedByDeadline, let isOwned = state.isOwned, isOwned != (form == .owned) { shardsBehind += 1 }
        for consumer in state.consumers where consumer.idleSeconds < deliveries.configuration.lease * 2 / .seconds(1) {
          add(consumer, to: &older)
        }
      }
    }
    return StoreFormState(
      form: form, shardsBehind: shardsBehind, olderWorkers: older.sorted { ($0.queue.index, $0.name) < ($1.queue.index, $1.name) })
  }

  /// Changes the form in which all instances work; they follow within seconds. It is refused while a worker exists that does not know the
  /// form, unless it is forced: such a worker then stops working and changes nothing.
  public func setForm(_ form: StoreForm, force: Bool) async throws(StoreFormRefusal) -> StoreFormState {
    let missing: [OlderWorker]
    do throws(QueueError) {
      missing = try await self.form().olderWorkers.filter { $0.form < form.rawValue }
      if force || missing.isEmpty {
        _ = try await deliveries.send(["SET", .string(Keys.form), .integer(Int64(form.rawValue))])
        return try await self.form()
      }
    } catch { throw .unavailable(error) }
    throw .isUnknown(to: missing)
  }

  /// Adds the worker. If there are several entries for a worker, the most recent one counts.
  private func add(_ worker: OlderWorker, to older: inout [OlderWorker]) {
    guard worker.form < StoreForm.newest.rawValue else { return }
    if let index = older.firstIndex(where: { $0.queue == worker.queue && $0.name == worker.name }) {
      if worker.idleSeconds < older[index].idleSeconds { older[index] = worker }
    } else {
      older.append(worker)
    }
  }

  private struct GroupState: Sendable {
    /// Nil if the shard has no consumer group.
    var isOwned: Bool?
    var consumers: [OlderWorker] = []
  }

  /// Reads the consumer group of each shard of a queue.
  private func groupStates(of queue: QueueName) async throws(QueueError) -> [GroupState] {
    let results = await withTaskGroup(of: Result<GroupState, QueueError>.self) { group in
      for shard in Shard.all {
        group.addTask {
          do throws(QueueError) { return .success(try await groupState(of: queue, shard)) } catch { return .failure(error) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var states: [GroupState] = []
    for result in results { states.append(try result.get()) }
    return states
  }

  private func groupState(of queue: QueueName, _ shard: Shard) async throws(QueueError) -> GroupState {
    var state = GroupState()
    do throws(RedisError) {
      let stream = RedisArgument.string(Keys.ready(queue, shard))
      for info in try await deliveries.redis.sendAllowingErrors(["XINFO", "GROUPS", stream]).array ?? [] {
        let group = EventFeed.fields(info)
        guard group["name"]?.string == DeliveryQueue.group else { continue }
        state.isOwned = group["last-delivered-id"]?.string == EntryID.greatest.text
      }
      for info in try await deliveries.redis.sendAllowingErrors(["XINFO", "CONSUMERS", stream, .string(DeliveryQueue.group)]).array ?? [] {
        let consumer = EventFeed.fields(info)
        guard let name = consumer["name"]?.string, let idle = consumer["idle"]?.integer else { continue }
        state.consumers.append(
          OlderWorker(queue: queue, name: name, form: QueueConsumer.form(ofWorker: name), idleSeconds: Double(idle) / 1000))
      }
    } catch { throw .unavailable(error) }
    return state
  }
}
