import AttributionProtocol
import AttributionQueue

extension FeedFilter {
  /// The greatest number of values of one list.
  static let maxValues = 100
  private static let environmentNames: Set<String> = ["production", "sandbox", "development"]

  /// A filter from a request.
  init(validating filter: EventFilter?, field: String) throws(RPCError) {
    guard let filter else {
      self.init()
      return
    }
    for (name, list) in [("adNetworkIds", filter.adNetworkIds), ("apps", filter.apps), ("environments", filter.environments)] {
      guard list.count <= Self.maxValues else {
        throw .invalidArgument(field: "\(field).\(name)", "must have at most \(Self.maxValues) values")
      }
      for (index, value) in list.enumerated() {
        let place = "\(field).\(name)[\(index)]"
        guard (1...255).contains(value.utf8.count) else { throw .invalidArgument(field: place, "must be 1 to 255 bytes") }
        if name == "environments", !Self.environmentNames.contains(value) {
          throw .invalidArgument(field: place, "must be production, sandbox or development")
        }
      }
    }
    self.init(adNetworkIds: filter.adNetworkIds, apps: filter.apps, environments: filter.environments)
  }
}
