/// The connection settings from environment variables that begin with ATTRIBUTIONCTL_.
extension ConnectionLayer {
  static let prefix = "ATTRIBUTIONCTL_"

  /// The variables that are read, for the generated reference.
  static var variables: [(name: String, meaning: String)] {
    [
      ("PROFILES", "the file with the profiles"), ("PROFILE", "the profile to use"),
      ("ADDRESS", "scheme and host of all services, each at its default port"),
    ].map { (prefix + $0.0, $0.1) } + Destination.all.map { (variable(of: $0), "address of \($0.name)") }
      + [
        ("TOKEN", "the token itself"), ("TOKEN_FILE", "the file with the token"), ("CA_FILE", "PEM file with trust anchors"),
        ("CERTIFICATE_FILE", "PEM file with the caller's certificate"), ("KEY_FILE", "PEM file with the certificate's private key"),
        ("OUTPUT", "table, json or yaml"),
      ].map { (prefix + $0.0, $0.1) }
  }

  private static func variable(of destination: Destination) -> String {
    prefix + String(destination.name.uppercased().map { $0 == "-" ? "_" : $0 }) + "_URL"
  }

  /// Reads the variables; an empty one counts as absent.
  init(environment: [String: String]) throws(CommandFailure) {
    self.init()
    func text(_ name: String) -> String? { environment[Self.prefix + name].flatMap { $0.isEmpty ? nil : $0 } }
    func checked(_ name: String, _ value: String, withPort: Bool) throws(CommandFailure) -> String {
      if let fault = Self.fault(inAddress: value, withPort: withPort) { throw CommandFailure(.configuration, "\(name) \(fault)") }
      return value
    }
    if let value = text("ADDRESS") { address = try checked(Self.prefix + "ADDRESS", value, withPort: false) }
    for destination in Destination.all {
      let name = Self.variable(of: destination)
      if let value = environment[name], !value.isEmpty { addresses[destination] = try checked(name, value, withPort: true) }
    }
    switch (text("TOKEN"), text("TOKEN_FILE")) {
    case (let token?, nil): self.token = .text(token)
    case (nil, let file?): token = .file(file)
    case (nil, nil): break
    default: throw CommandFailure(.configuration, "ATTRIBUTIONCTL_TOKEN and ATTRIBUTIONCTL_TOKEN_FILE are both set; set only one")
    }
    caFile = text("CA_FILE")
    certificateFile = text("CERTIFICATE_FILE")
    keyFile = text("KEY_FILE")
    if let value = text("OUTPUT") {
      guard let format = OutputFormat(rawValue: value) else {
        throw CommandFailure(.configuration, "ATTRIBUTIONCTL_OUTPUT must be table, json or yaml")
      }
      output = format
    }
  }
}
