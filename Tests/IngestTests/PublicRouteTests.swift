import Testing

@testable import ingest

@Suite struct PublicRouteTests {
  @Test(arguments: [
    ("/v1/app-store/notifications", PublicRoute.notification(bundleId: nil)),
    ("/v1/app-store/notifications/", .notification(bundleId: nil)),
    ("/v1/app-store/notifications/com.example.app", .notification(bundleId: "com.example.app")),
    ("/v1/app-store/notifications/com.example.app/", .notification(bundleId: "com.example.app")),
    ("/v1/app-store/notifications/com%2Eexample.app", .notification(bundleId: "com.example.app")),
    ("/v1/adservices/tokens", .token(bundleId: nil)),
    ("/v1/adservices/tokens/com.example.app/", .token(bundleId: "com.example.app")),
    ("/v1/postbacks/example123.skadnetwork", .postback(adNetworkId: "example123.skadnetwork")),
    ("/v1/sessions/install-1/att-status", .attStatus(installId: "install-1")),
  ])
  func `A path is a route, with and without a slash at its end`(path: String, route: PublicRoute) {
    #expect(PublicRoute(path: path) == route)
  }

  @Test(arguments: [
    "", "/", "/v1", "/v1/app-store", "/v1/app-store/notifications//", "/v1/app-store/notifications/a/b", "/v1/app-store/notifications/%",
    "/v1/app-store/notifications/%FF", "/v1/adservices/tokens/a/b", "/v1/adservices", "/V1/app-store/notifications", "//v1/sessions",
  ])
  func `A path that only resembles a route is no route`(_ path: String) { #expect(PublicRoute(path: path) == nil) }

  @Test func `Senders of postbacks and notifications need a status of their own to retry`() {
    #expect(PublicRoute.postback(adNetworkId: nil).retryStatus == 500)
    #expect(PublicRoute.postback(adNetworkId: "example123.skadnetwork").retryStatus == 500)
    #expect(PublicRoute.notification(bundleId: nil).retryStatus == 503 && PublicRoute.notification(bundleId: "a.b").retryStatus == 503)
    #expect(PublicRoute.session.retryStatus == nil && PublicRoute.token(bundleId: nil).retryStatus == nil)
  }
}
