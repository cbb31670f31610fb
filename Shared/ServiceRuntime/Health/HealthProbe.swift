import HTTPClient

/// Asks the instance on this machine for its health. The instance's environment variables name its port.
struct HealthProbe {
  private let url: String
  private let http: HTTPClient

  init(_ variables: ServiceVariables) {
    url = "\(variables.tls == nil ? "http" : "https")://\(Self.host(variables.listen.host)):\(variables.listen.port)"
    var configuration = HTTPClientConfiguration()
    // The certificate is not verified, because it names the service while the probe's URL has an IP address. That is safe because the
    // request contains no secret and never leaves the machine.
    configuration.verifiesServer = false
    if variables.tls?.clientCAFile != nil {
      configuration.certificateFile = variables.tls?.certificateFile
      configuration.keyFile = variables.tls?.keyFile
    }
    http = HTTPClient(configuration: configuration)
  }

  /// The host part of the URL at which a listener can be reached from its own machine.
  static func host(_ listenHost: String) -> String {
    switch listenHost {
    case "0.0.0.0", "": "127.0.0.1"
    case "::": "[::1]"
    default: listenHost.contains(":") ? "[\(listenHost)]" : listenHost
    }
  }

  /// Returns nil if the response is 200, otherwise why it is not.
  func failure(path: String, timeout: Duration) async -> String? {
    do throws(HTTPClientError) {
      let response = try await http.send(HTTPClientRequest(method: "GET", url: url + path, timeout: timeout, maxResponseBytes: 65_536))
      guard response.status != 200 else { return nil }
      return "\(path) answers \(response.status): \(String(decoding: response.body.prefix(1000), as: UTF8.self))"
    } catch {
      return "\(path) does not answer: \(error)"
    }
  }
}
