import Logging
import NIOConcurrencyHelpers

/// The known topology of a cluster, or the primary that Sentinels name. All clients of one URL share it. It is refreshed periodically, and
/// when a command shows that it has changed.
final class RedisTopology: Sendable {
  private struct State {
    var map: SlotMap?
    /// Corrections by `MOVED` since the map was read. They are newer than the map.
    var moved: [HashSlot: NodeAddress] = [:]
    var asking: Task<Void, Never>?
    /// The error of the last discovery.
    var fault: RedisError?
    /// The earliest time of the next discovery, unless there was none since a command showed a change.
    var nextQuestion = ContinuousClock.now
    var routineAt = ContinuousClock.now
  }

  /// The least time between discoveries, because many commands notice the same change.
  private static let interval: Duration = .milliseconds(100)
  /// The time after which the topology is discovered again in any case, because a primary that was cut off may go on answering.
  private static let routine: Duration = .seconds(10)

  private let discovery: any TopologyDiscovery
  private let seeds: [NodeAddress]
  private let pools: NodePools
  private let logger: Logger
  private let onChange: NIOLockedValueBox<[@Sendable ([NodeAddress]) -> Void]>
  private let state = NIOLockedValueBox(State())

  /// - Parameters:
  ///   - seeds: the addresses in the URL.
  ///   - pools: connections to the nodes that are asked.
  init(_ discovery: any TopologyDiscovery, seeds: [NodeAddress], pools: NodePools, logger: Logger) {
    self.discovery = discovery
    self.seeds = seeds
    self.pools = pools
    self.logger = logger
    onChange = NIOLockedValueBox([])
  }

  /// Registers a callback that gets all nodes after a change, so that connections to removed nodes can be closed.
  func whenChanged(_ callback: @escaping @Sendable ([NodeAddress]) -> Void) { onChange.withLockedValue { $0.append(callback) } }

  /// The node that serves a slot, or any primary if there is no key; nil if no node serves it. Discovers the topology if it is unknown.
  func node(for slot: HashSlot?) async throws(RedisError) -> NodeAddress? {
    let now = ContinuousClock.now
    let (isKnown, node, isDue) = state.withLockedValue { state in
      (state.map != nil, Self.node(slot, state), now >= state.routineAt)
    }
    if isKnown {
      if isDue { ask(now) }
      return node
    }
    await discover()
    let (found, fault) = state.withLockedValue { state in
      (state.map.map { _ in Self.node(slot, state) }, state.fault)
    }
    guard let found else { throw fault ?? .unavailable("the topology is not known") }
    return found
  }

  private static func node(_ slot: HashSlot?, _ state: State) -> NodeAddress? {
    guard let slot else { return state.map?.primaries.randomElement() }
    return state.moved[slot] ?? state.map?[slot]
  }

  /// The known primaries. Discovers the topology if it is unknown.
  func primaries() async throws(RedisError) -> [NodeAddress] {
    _ = try await node(for: nil)
    return state.withLockedValue { $0.map?.primaries ?? [] }
  }

  /// Records a `MOVED` redirection, which applies at once, and starts a discovery.
  func moved(_ slot: HashSlot, to node: NodeAddress) {
    state.withLockedValue { $0.moved[slot] = node }
    ask(.now)
  }

  /// Discovers the topology and waits for the result, no more often than ``interval`` allows.
  func discover() async { await ask(.now)?.value }

  /// Starts a discovery without waiting for the result.
  func refresh() { ask(.now) }

  @discardableResult
  private func ask(_ now: ContinuousClock.Instant) -> Task<Void, Never>? {
    state.withLockedValue { state in
      if let asking = state.asking { return asking }
      guard now >= state.nextQuestion else { return nil }
      state.nextQuestion = now + Self.interval
      state.routineAt = now + Self.routine
      let asking = Task { await self.learn() }
      state.asking = asking
      return asking
    }
  }

  private func learn() async {
    let known = state.withLockedValue { $0.map }
    let movedBefore = state.withLockedValue { $0.moved }
    var outcome = await holdElection(discovery.voters(known), believed: known)
    // The nodes may all have new addresses, which the addresses in the URL lead to.
    if !outcome.isElected, known != nil {
      let again = await holdElection(seeds, believed: known)
      if again.isElected || !outcome.isAnswered { outcome = again }
    }
    let change: SlotMap? = state.withLockedValue { state in
      state.asking = nil
      state.fault = outcome.map == nil ? outcome.fault : nil
      guard let map = outcome.map, outcome.isElected || state.map == nil else { return nil }
      // A `MOVED` that arrived meanwhile is newer than the map.
      state.moved = state.moved.filter { slot, node in movedBefore[slot] != node && map[slot] != node }
      defer { state.map = map }
      return map == state.map ? nil : map
    }
    guard let change else { return }
    pools.keep(discovery.voters(change) + seeds + change.nodes)
    // Only changed primaries are logged as info, because each slot that moves changes the map.
    let isOther = Set(change.primaries) != Set(known?.primaries ?? [])
    logger.log(
      level: isOther ? .info : .debug, isOther ? "found the primaries of Redis" : "found moved slots of Redis",
      metadata: ["primaries": "\(change.primaries.map(\.description).joined(separator: ", "))"])
    let nodes = change.nodes
    for callback in onChange.withLockedValue({ $0 }) { callback(nodes) }
  }

  /// Asks all voters concurrently.
  private func holdElection(_ voters: [NodeAddress], believed: SlotMap?) async
    -> (map: SlotMap?, isAnswered: Bool, isElected: Bool, fault: RedisError?)
  {
    await withTaskGroup(of: Result<SlotMap?, RedisError>.self) { group in
      for voter in voters {
        group.addTask {
          do throws(RedisError) {
            let reply = try await self.pools[voter].send(EncodedArguments(self.discovery.question), name: "TOPOLOGY")
            if let text = reply.error { throw .refused(text) }
            return .success(self.discovery.read(reply, from: voter))
          } catch {
            return .failure(error)
          }
        }
      }
      var election = TopologyElection(voters: voters.count)
      var isAnswered = false
      var fault: RedisError?
      for await vote in group {
        switch vote {
        case .success(let map):
          election.vote(map)
          if map != nil { isAnswered = true } else { fault = fault ?? .unavailable("\(discovery.question[0].text ?? "") knows no primary") }
        case .failure(let error):
          election.vote(nil)
          fault = fault ?? error
        }
      }
      return (election.result(believed: believed), isAnswered, election.elected != nil, fault)
    }
  }
}
