import ServiceRuntime

await ServiceMain.run(.notificationRecovery) { environment in try ServiceParts.notificationRecovery(environment) }
