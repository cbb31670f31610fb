import Synchronization

/// The scripted faults. The first that matches a request, and is selected by its percentage, is applied.
public final class FaultScript: Sendable {
  private let faults = Mutex<[Fault]>([])

  func add(_ fault: Fault) { faults.withLock { $0.append(fault) } }

  func reset() { faults.withLock { $0 = [] } }

  var count: Int { faults.withLock(\.count) }

  func next(names: [String], path: String) -> Fault? {
    faults.withLock { faults in
      // A matching fault that is not selected by its percentage is skipped, and the next one is checked.
      for place in faults.indices where faults[place].concerns(names: names, path: path) {
        let fault = faults[place]
        guard fault.random.fraction() * 100 < fault.percentage else { continue }
        if let left = fault.left {
          if left <= 1 { faults.remove(at: place) } else { faults[place].left = left - 1 }
        }
        return fault
      }
      return nil
    }
  }
}
