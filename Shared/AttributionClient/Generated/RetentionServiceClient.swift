// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Sets up Apple's retention messaging: the calls of the Retention Messaging API, each for one app and environment. Served by
/// notification-recovery.
public struct RetentionServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Apple: Upload Image. An identifier that already exists is refused with `already_exists`.
  public func uploadRetentionImage(_ request: UploadRetentionImageRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> UploadRetentionImageResponse
  {
    try await rpc.call(RetentionService.UploadRetentionImage.self, request, options)
  }

  /// Apple: Delete Image.
  public func deleteRetentionImage(_ request: DeleteRetentionImageRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DeleteRetentionImageResponse
  {
    try await rpc.call(RetentionService.DeleteRetentionImage.self, request, options)
  }

  /// Apple: Get Image List.
  public func listRetentionImages(_ request: ListRetentionImagesRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListRetentionImagesResponse
  {
    try await rpc.call(RetentionService.ListRetentionImages.self, request, options)
  }

  /// Apple: Upload Message. An identifier that already exists is refused with `already_exists`.
  public func uploadRetentionMessage(_ request: UploadRetentionMessageRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> UploadRetentionMessageResponse
  {
    try await rpc.call(RetentionService.UploadRetentionMessage.self, request, options)
  }

  /// Apple: Delete Message.
  public func deleteRetentionMessage(_ request: DeleteRetentionMessageRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DeleteRetentionMessageResponse
  {
    try await rpc.call(RetentionService.DeleteRetentionMessage.self, request, options)
  }

  /// Apple: Get Message List. The App Store shows only approved messages.
  public func listRetentionMessages(_ request: ListRetentionMessagesRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListRetentionMessagesResponse
  {
    try await rpc.call(RetentionService.ListRetentionMessages.self, request, options)
  }

  /// Apple: Configure Default Message, for a product in a locale. Replaces the previous one.
  public func setDefaultRetentionMessage(_ request: SetDefaultRetentionMessageRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SetDefaultRetentionMessageResponse
  {
    try await rpc.call(RetentionService.SetDefaultRetentionMessage.self, request, options)
  }

  /// Apple: Get Default Message.
  public func getDefaultRetentionMessage(_ request: GetDefaultRetentionMessageRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetDefaultRetentionMessageResponse
  {
    try await rpc.call(RetentionService.GetDefaultRetentionMessage.self, request, options)
  }

  /// Apple: Delete Default Message.
  public func deleteDefaultRetentionMessage(_ request: DeleteDefaultRetentionMessageRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> DeleteDefaultRetentionMessageResponse
  {
    try await rpc.call(RetentionService.DeleteDefaultRetentionMessage.self, request, options)
  }

  /// Apple: Configure Realtime URL. For production, Apple requires a passed performance test.
  public func setRetentionURL(_ request: SetRetentionURLRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SetRetentionURLResponse
  {
    try await rpc.call(RetentionService.SetRetentionURL.self, request, options)
  }

  /// Apple: Get Realtime URL.
  public func getRetentionURL(_ request: GetRetentionURLRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetRetentionURLResponse
  {
    try await rpc.call(RetentionService.GetRetentionURL.self, request, options)
  }

  /// Apple: Delete Realtime URL.
  public func deleteRetentionURL(_ request: DeleteRetentionURLRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DeleteRetentionURLResponse
  {
    try await rpc.call(RetentionService.DeleteRetentionURL.self, request, options)
  }

  /// Apple: Initiate Performance Test; sandbox only.
  public func startRetentionPerformanceTest(_ request: StartRetentionPerformanceTestRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> StartRetentionPerformanceTestResponse
  {
    try await rpc.call(RetentionService.StartRetentionPerformanceTest.self, request, options)
  }

  /// Apple: Get Performance Test Results; sandbox only.
  public func getRetentionPerformanceTest(_ request: GetRetentionPerformanceTestRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetRetentionPerformanceTestResponse
  {
    try await rpc.call(RetentionService.GetRetentionPerformanceTest.self, request, options)
  }
}
