import ServiceRuntime

await ServiceMain.run(.asaTokenBroker) { environment in try ServiceParts.tokenBroker(environment) }
