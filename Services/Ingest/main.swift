import ServiceRuntime

await ServiceMain.run(.ingest) { environment in try ServiceParts.ingest(environment) }
