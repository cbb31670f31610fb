import AttributionProtocol
import AttributionQueue

extension FeedFilter {
  /// The maximum number of values in a list of the filter.
  static let maxValues = 100
  private static let environmentNames: Set<String> = ["production", "sandbox", "development"]

  /// The filter of a request; an absent one matches all events. Throws for invalid values.
  ///
  /// - Parameter field: the request's field that contains the filter.
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
        let path = "\(field).\(name)[\(index)]"
        guard (1...255).contains(value.utf8.count) else { throw .invalidArgument(field: path, "must be 1 to 255 bytes") }
        if name == "environments", !Self.environmentNames.contains(value) {
          throw .invalidArgument(field: path, "must be production, sandbox or development")
        }
      }
    }
    self.init(adNetworkIds: filter.adNetworkIds, apps: filter.apps, environments: filter.environments)
  }
}
