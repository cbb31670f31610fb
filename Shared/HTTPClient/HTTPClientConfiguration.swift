import CCurl

/// The settings of connections, for ``HTTPClient`` and ``PostLoop``.
public struct HTTPClientConfiguration: Sendable {
  /// The minimum TLS version of all connections: 1.2.
  static let minTLSVersion = Int(CURL_SSLVERSION_TLSv1_2)
  /// The time after which ``caFile`` is read again for new connections, so that a changed file takes effect without a restart.
  static let anchorLifetime: Duration = .seconds(60)
  /// The greatest number of concurrent requests on one HTTP/2 connection, even if the server allows more, because all of them fail if the
  /// connection breaks.
  static let maxStreamsPerConnection = 64

  /// A PEM file of trust anchors instead of the system's.
  public var caFile: String?
  /// The PEM file of the client certificate.
  public var certificateFile: String?
  /// The PEM file of the client certificate's key.
  public var keyFile: String?
  /// True if the server's certificate and name are verified. False is only for calls of a process to itself over loopback.
  public var verifiesServer = true
  /// The `host:port` to which all connections go, whatever the URL. Names and certificates are still checked by the URL.
  public var connectTo: String?
  public var connectTimeout: Duration = .seconds(3)
  /// The greatest number of connections to one host. With HTTP/2, each connection carries many requests.
  public var maxConnectionsPerHost = 16
  /// True if HTTP/2 is offered over TLS.
  public var http2 = true
  /// Called for each request of ``HTTPClient``. ``PostLoop`` does not call it.
  public var observer: (any HTTPRequestObserver)?

  public init() {}
}
