import HTTPClient

/// Asks the service with the same environment for its health over loopback.
struct HealthProbe {
  private let url: String
  private let http: HTTPClient

  init(_ variables: ServiceVariables) {
    url = "\(variables.tls == nil ? "http" : "https")://\(Self.host(variables.listen.host)):\(variables.listen.port)"
    var configuration = HTTPClientConfiguration()
    // The certificate is not verified: it names the service while the probe uses an address. The request never leaves the machine and
    // contains no secret.
    configuration.verifiesServer = false
    if variables.tls?.clientCAFile != nil {
      configuration.certificateFile = variables.tls?.certificateFile
      configuration.keyFile = variables.tls?.keyFile
    }
    http = HTTPClient(configuration: configuration)
  }

  /// The address under which a listener is reached from its own machine.
  static func host(_ listening: String) -> String {
    switch listening {
    case "0.0.0.0", "": "127.0.0.1"
    case "::": "[::1]"
    default: listening.contains(":") ? "[\(listening)]" : listening
    }
  }

  /// Returns nil if the response is 200.
  func fault(path: String, timeout: Duration) async -> String? {
    do throws(HTTPClientError) {
      let response = try await http.send(HTTPClientRequest(method: "GET", url: url + path, timeout: timeout, maxResponseBytes: 65_536))
      guard response.status != 200 else { return nil }
      return "\(path) answers \(response.status): \(String(decoding: response.body.prefix(1000), as: UTF8.self))"
    } catch {
      return "\(path) does not answer: \(error)"
    }
  }
}
