import ServiceRuntime

await ServiceMain.run(.verifier) { environment in try ServiceParts.verifier(environment) }
