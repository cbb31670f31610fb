import ArgumentParser

/// Options that select which recoveries or migrations are listed.
struct JobListOptions: ParsableArguments {
  @Option(help: ArgumentHelp("List only entries of the app with this bundle id.", valueName: "id")) var bundleId: String?
  @Option(help: "The maximum number of entries, 1 to 1000.") var limit: Int32 = 100

  func validate() throws { guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") } }
}
