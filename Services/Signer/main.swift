import ServiceRuntime

await ServiceMain.run(.signer) { environment in try ServiceParts.signer(environment) }
