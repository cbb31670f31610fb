import AttributionProtocol
import ServiceRuntime

/// `ListSigningKeys`: the keys of all ad networks and apps, or of one of them, with their public keys. First come the ad networks, then the
/// apps, each sorted by id.
struct ListSigningKeysHandler: ImmediateRPCHandler {
  typealias Method = SignerService.ListSigningKeys

  let issuer: SignatureIssuer

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let keyring = issuer.keyring
    if let id = request.adNetworkId, keyring.adNetworks[id] == nil {
      throw .notFound("unknown ad network", field: "adNetworkId")
    }
    if let id = request.bundleId, keyring.apps[id] == nil { throw .notFound("unknown app", field: "bundleId") }
    let listsAll = request.adNetworkId == nil && request.bundleId == nil
    var keys: [SigningKeyInfo] = []
    for (id, entries) in keyring.adNetworks.sorted(by: { $0.key < $1.key }) where listsAll || id == request.adNetworkId {
      for entry in entries {
        keys.append(
          SigningKeyInfo(
            keyId: entry.id, state: entry.state.rawValue, algorithm: "ES256", publicKey: entry.publicKey, adNetworkId: id,
            bundleId: nil, use: "impressions"))
      }
    }
    for (id, entry) in keyring.apps.sorted(by: { $0.key < $1.key }) where listsAll || id == request.bundleId {
      for (key, use) in entry.all {
        keys.append(
          SigningKeyInfo(
            keyId: key.keyId, state: DeploymentConfiguration.Key.State.active.rawValue, algorithm: "ES256",
            publicKey: key.identity.key.publicKey.pem, adNetworkId: nil, bundleId: id, use: use))
      }
    }
    return Method.Response(keys: keys)
  }
}
