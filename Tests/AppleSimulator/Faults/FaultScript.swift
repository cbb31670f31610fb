import Synchronization

/// The failures that are scripted now; the first that concerns a request strikes it.
public final class FaultScript: Sendable {
  private let faults = Mutex<[Fault]>([])

  func add(_ fault: Fault) { faults.withLock { $0.append(fault) } }

  func reset() { faults.withLock { $0 = [] } }

  var count: Int { faults.withLock(\.count) }

  func next(names: [String], path: String) -> Fault? {
    faults.withLock { faults in
      guard let place = faults.firstIndex(where: { $0.concerns(names: names, path: path) }) else { return nil }
      let fault = faults[place]
      guard fault.random.fraction() * 100 < fault.percentage else { return nil }
      if let left = fault.left {
        if left <= 1 { faults.remove(at: place) } else { faults[place].left = left - 1 }
      }
      return fault
    }
  }
}
