import AttributionProtocol
import EventPush
import HTTPClient
import ServiceRuntime

extension EndpointDirectory {
  /// The settings of a new endpoint, as a request describes it.
  func newSettings(_ message: PushEndpoint) throws(RPCError) -> EndpointSettings {
    guard let url = message.url else { throw .invalidArgument(field: "push.url", "is missing") }
    let blank = EndpointSettings(
      url: url, form: .structured, isOrdered: false, maxPerSecond: nil, maxConcurrent: nil, now: WallClock.now())
    return try updatedSettings(blank, message)
  }

  /// The settings of an endpoint after the changes that a request describes. Throws for invalid values.
  func updatedSettings(_ settings: EndpointSettings, _ message: PushEndpoint) throws(RPCError) -> EndpointSettings {
    var settings = settings
    if let url = message.url { settings.move(to: try checked(url), now: WallClock.now()) }
    if let form = message.form {
      guard let form = PushForm(rawValue: form) else {
        throw .invalidArgument(field: "push.form", "must be structured, binary or original")
      }
      settings.form = form
    }
    if let ordered = message.ordered { settings.isOrdered = ordered }
    if let rate = message.maxPerSecond {
      guard (1...10_000).contains(rate) else { throw .invalidArgument(field: "push.maxPerSecond", "must be 1 to 10000") }
      settings.maxPerSecond = Int(rate)
    }
    if let concurrency = message.maxConcurrent {
      guard (1...64).contains(concurrency) else { throw .invalidArgument(field: "push.maxConcurrent", "must be 1 to 64") }
      settings.maxConcurrent = Int(concurrency)
    }
    return settings
  }

  private func checked(_ text: String) throws(RPCError) -> String {
    let url: EndpointURL
    do throws(EndpointURL.Failure) { url = try EndpointURL(validating: text, allowsHTTP: self.settings.allowsHTTP) } catch {
      throw .invalidArgument(field: "push.url", error.description)
    }
    // If the URL contains a host name, the pusher checks its addresses at each connection.
    if let address = try? IPAddress(validating: url.host), !EndpointAddresses(allowed: self.settings.allowedAddresses).allows(address) {
      throw .invalidArgument(field: "push.url", "has an address that the setting push.allowedAddresses does not allow")
    }
    return text
  }
}

/// The types of events that have original bytes, and can therefore be pushed in the original form (`push.form`).
enum OriginalTypes {
  private static let verified: [EventType] = [
    .skadnetworkPostbackVerified, .adAttributionKitPostbackVerified, .notificationVerified,
  ]
  private static let rejected: [EventType] = [
    .skadnetworkPostbackRejected, .adAttributionKitPostbackRejected, .notificationRejected,
  ]

  /// The types of a new subscription that is pushed in the original form: those that it names, by default those of verified data.
  static func forNewSubscription(_ types: [String]) throws(RPCError) -> [String] {
    for (index, type) in types.enumerated() where !known.contains(type) {
      throw .invalidArgument(field: "types[\(index)]", "events of the type \(type) have no original bytes")
    }
    return types.isEmpty ? verified.map(\.rawValue) : types
  }

  /// Throws unless a subscription with these types may be changed to the original form. It must name its types, because without types it
  /// would also get rejected data, whose bytes anybody may have sent.
  static func check(_ types: [String]) throws(RPCError) {
    guard !types.isEmpty else {
      throw .invalidArgument(field: "push.form", "must not be original: the subscription names no types, so it gets events of all types")
    }
    for type in types where !known.contains(type) {
      throw .invalidArgument(field: "push.form", "events of the type \(type) have no original bytes")
    }
  }

  private static let known = Set((verified + rejected).map(\.rawValue))
}
