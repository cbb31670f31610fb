/// The components of the simulator, and how they depend on each other.
public struct SimulatorParts: Sendable {
  let time: SimulatedTime
  let random: SeededRandom
  let deviceKeys: DeviceKeys
  let apps: AppRegistry
  let networks = AdNetworkRegistry()
  let ledger = PurchaseLedger()
  let archive = NotificationArchive()
  let deliveries = DeliveryLog()
  let tokens = AdServicesTokens()
  let sessions = SessionLog()
  let faults = FaultScript()
  let retryingSender: RetryingSender
  let device: DeviceSender
  let publisher: NotificationPublisher
  let serverAPI: AppStoreServerAPI
  let realtime: RealtimeRequests

  init(directory: StateDirectory, tlsAuthorityPEM: String, timeScale: Double, seed: UInt64) throws {
    time = SimulatedTime(scale: timeScale)
    random = SeededRandom(seed: seed)
    deviceKeys = try DeviceKeys(in: directory)
    apps = try AppRegistry(directory: directory)
    retryingSender = RetryingSender(time: time)
    let http = try OutgoingHTTP(trustedPEM: [tlsAuthorityPEM])
    device = DeviceSender(http: http, retryingSender: retryingSender, log: deliveries)
    let factory = NotificationFactory(
      signer: JWSSigner(chain: try AppStoreChain(in: directory)),
      foreignRootSigner: JWSSigner(chain: try AppStoreChain(in: directory, name: "stranger")),
      unmarkedSigner: JWSSigner(
        chain: try AppStoreChain(in: directory, name: "app-store", variant: "unmarked", marked: false)),
      ledger: ledger, time: time, random: random)
    publisher = NotificationPublisher(
      factory: factory, archive: archive, sender: NotificationSender(http: http, retryingSender: retryingSender, archive: archive),
      apps: apps, ledger: ledger, time: time, random: random)
    serverAPI = AppStoreServerAPI(publisher: publisher, apps: apps)
    realtime = RealtimeRequests(
      signer: factory.signer, foreignRootSigner: factory.foreignRootSigner, unmarkedSigner: factory.unmarkedSigner, apps: apps,
      setup: serverAPI.retention, time: time, random: random, caFile: directory.path + "/tls-ca.pem")
    serverAPI.retention.setTestRunner { [realtime] test, url, report in realtime.perform(test, at: url, report) }
    try directory.write("apple-keys.yaml", deviceKeys.yaml())
  }

  /// Deletes all data and scripts and sets the clock's offset to 0. Keys, apps, ad networks and the time scale are kept.
  func reset() {
    retryingSender.reset()
    archive.reset()
    ledger.reset()
    deliveries.reset()
    tokens.reset()
    sessions.reset()
    faults.reset()
    serverAPI.reset()
    time.offsetMilliseconds = 0
  }
}
