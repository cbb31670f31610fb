import ArgumentParser
import AttributionProtocol
import Cryptography

struct RetentionImagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images", abstract: "Upload, list and delete images for retention messages.",
    discussion: "Example: attributionctl retention images list --bundle-id com.example.app --environment Sandbox",
    subcommands: [Upload.self, List.self, Delete.self])

  struct Upload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "upload", abstract: "Upload a PNG file without transparency.",
      discussion: """
        Example: attributionctl retention images upload coast.png --id 3c6a1f07-1c53-4d2d-9fd0-2a5f0c2a9d11 --bundle-id com.example.app \
        --environment Sandbox
        """)

    enum Size: String, ExpressibleByArgument, CaseIterable {
      case full = "FULL_SIZE"
      case bulletPoint = "BULLET_POINT"
    }

    /// The maximum size of an image in bytes. In Base64 it still fits into a request of 16 MiB.
    private static let maxImageBytes = 12_578_816

    @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The UUID that identifies the image.", valueName: "uuid")) var id: String
    @Option(help: "FULL_SIZE: 3840 pixels wide, 160 to 2160 high. BULLET_POINT: 1024 by 1024 pixels.") var size: Size = .full
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      var input = try InputFile(file)
      let bytes = try input.rest()
      guard bytes.count <= Self.maxImageBytes else {
        throw CommandFailure(.refusedInput, "\(file) has \(bytes.count) bytes; an image may have at most \(Self.maxImageBytes)")
      }
      let request = UploadRetentionImageRequest(
        bundleId: app.bundleId, environment: app.environment, imageIdentifier: id, imageSize: size.rawValue, image: Base64.encode(bytes))
      let record = Record([
        ("app", Cell(app.text)), ("image", Cell(id)), ("size", Cell(size.rawValue)), ("bytes", Cell("\(bytes.count)")),
      ])
      try await AppleCall.change(options, dryRun: dryRun, request, done: record) { connection throws(RPCError) in
        try await connection.client.retention.uploadRetentionImage(request)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List images and whether Apple approved them.",
      discussion: "Example: attributionctl retention images list --bundle-id com.example.app --environment Sandbox")

    @OptionGroup var app: AppleCallOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.retention.listRetentionImages(
          ListRetentionImagesRequest(bundleId: app.bundleId, environment: app.environment))
      }
      try connection.printer.show(response, none: "There are no images.") {
        var table = Table(["image", "state", "size"])
        for image in response.images {
          table.add(Cell(image.imageIdentifier), Cell(image.imageState, TerminalText.approval(image.imageState)), Cell(image.imageSize))
        }
        return table
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete an image that no message uses.",
      discussion: "Example: attributionctl retention images delete 3c6a1f07-1c53-4d2d-9fd0-2a5f0c2a9d11 --bundle-id com.example.app --yes")

    @Argument(help: "The image's UUID.") var id: String
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      if !yes, !dryRun { try Confirmation.ask("Image \(id) of \(app.text) will be deleted. Continue?") }
      let request = DeleteRetentionImageRequest(bundleId: app.bundleId, environment: app.environment, imageIdentifier: id)
      try await AppleCall.change(options, dryRun: dryRun, request, done: Record([("app", Cell(app.text)), ("deleted", Cell(id))])) {
        connection throws(RPCError) in try await connection.client.retention.deleteRetentionImage(request)
      }
    }
  }
}
