import Testing

/// The rules, applied to this repository. `CheckerTests` shows that each rule can fail.
@Suite struct RepositoryTests {
  @Test func `The files of the repository are found`() {
    #expect(Repository.swiftFiles.count > 50)
    #expect(Repository.paths.contains("Package.swift"))
    #expect(Repository.swiftFiles.contains { $0.path == "Tests/ArchitectureTests/RepositoryTests.swift" })
  }

  @Test func `Each folder imports only what the module table allows`() {
    let files = Repository.swiftFiles.filter { !Repository.manifests.contains($0.path) }
    expectNone(files.flatMap { ModuleRules.findings(in: $0) })
  }

  @Test func `The manifest declares what is imported and nothing else`() throws {
    let manifest = Manifest(try #require(Repository.read("Package.swift")))
    expectNone(manifest.findings(in: Repository.swiftFiles))
    expectNone(
      manifest.findings(folders: Set(Repository.paths.compactMap { ModuleRules.targetFolder(of: $0) })))
  }

  @Test func `Each program compiles what its table says, and nothing else needs the lab`() throws {
    let manifest = Manifest(try #require(Repository.read("Package.swift")))
    #expect(manifest.lab == ModuleRules.lab)
    for (program, parts) in ModuleRules.programs {
      #expect(manifest.parts(of: program) == parts, "\(program)")
    }
    for target in manifest.targets where !manifest.lab.contains(target.name) {
      #expect(target.dependencies.isDisjoint(with: manifest.lab), "\(target.name)")
    }
  }

  @Test func `The package depends on no other`() throws {
    #expect(
      Repository.manifests == [
        "Package.swift", Manifest.embedding + "Package.swift", Manifest.examples + "CoinShop/Package.swift",
      ])
    for path in Repository.manifests {
      expectNone(Manifest.packageDependencies(in: try #require(Repository.read(path)), path: path))
    }
  }

  @Test func `The top of the repository holds the listed files and folders only`() {
    let names = Repository.paths.compactMap { $0.split(separator: "/").first }
    expectNone(Layout.findings(topLevel: Set(names.map(String.init))))
  }

  @Test func `No file and no function is too long`() {
    let headers = Repository.paths.filter { $0.hasSuffix(".h") }
      .compactMap { path in Repository.read(path).map { SourceText(path: path, $0) } }
    expectNone((Repository.swiftFiles + headers).flatMap { $0.sizeFindings() })
  }

  @Test func `Every file has as many closing braces as opening ones`() {
    // A scanner that misread a literal would make the lengths above meaningless.
    for file in Repository.swiftFiles {
      let opened = file.code.count { $0 == "{" }
      let closed = file.code.count { $0 == "}" }
      #expect(opened == closed, "\(file.path)")
    }
  }

  @Test func `The products run on iOS 16 and macOS 13`() {
    expectNone(Repository.swiftFiles.flatMap(BannedWords.newerSystems.findings))
  }

  @Test func `Unsafe code stays where it is allowed`() {
    expectNone(Repository.swiftFiles.flatMap(BannedWords.unsafeCode.findings))
  }

  @Test func `The machine and the models are pure`() {
    expectNone(Repository.swiftFiles.flatMap(BannedWords.impurity.findings))
  }

  @Test func `No product asks for a password but for a restore`() {
    expectNone(Repository.swiftFiles.flatMap(BannedWords.prompts.findings))
  }

  @Test func `No product drops an error`() {
    expectNone(Repository.swiftFiles.flatMap(BannedWords.swallowedErrors.findings))
    expectNone(Repository.swiftFiles.flatMap(BannedWords.emptyCatches))
  }
}
