/// The targets of Package.swift, read from its text. SwiftPM cannot be asked: it would wait for the lock that the
/// running test holds.
struct Manifest: Sendable {
  struct Target: Hashable, Sendable {
    var name: String
    /// "Sources/X", "Tests/X", or the target's `path:`.
    var folder: String
    var dependencies: Set<String>
    /// Those that it has with the lab only.
    var labDependencies: Set<String> = []
  }

  var targets: [Target]
  /// The names of those in the list `lab`, which the manifest adds on demand.
  var lab: Set<String>

  /// Understands `.target(name: "X", dependencies: ["Y"], …)`, its siblings, and `test("X", ["Y"])`.
  init(_ text: String) {
    // The names are in literals, so only comments are removed.
    let lines = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    let code = lines.joined(separator: "\n")
    targets = Self.targets(in: code)
    let list = code.firstRange(of: "let lab: [Target] = [").map { code[$0.upperBound...] }
    let end = list?.firstRange(of: "\n]")?.lowerBound ?? code.endIndex
    lab = Set(Self.targets(in: String(list?[..<end] ?? "")).map(\.name))
  }

  private static func targets(in code: String) -> [Target] {
    var targets: [Target] = []
    for (call, folder) in [
      (".target(", "Sources/"), (".executableTarget(", "Sources/"), (".systemLibrary(", "Sources/"),
      (".testTarget(", "Tests/"), ("test(", "Tests/"),
    ] {
      for arguments in Self.calls(of: call, in: code) {
        // In the helper's own body the name is a variable.
        guard let name = Self.literal(after: call == "test(" ? "" : "name:", in: arguments) else { continue }
        let list = Self.list(after: call == "test(" ? "," : "dependencies:", in: arguments)
        let path = Self.literal(after: "path:", in: arguments)
        let lab = Self.list(after: "lab:", in: arguments)
        targets.append(
          Target(name: name, folder: path ?? folder + name, dependencies: list, labDependencies: lab))
      }
    }
    return targets
  }

  /// What is compiled for a target: what it depends on, directly or not.
  func parts(of name: String) -> Set<String> {
    var parts: Set<String> = []
    var next = [name]
    while let name = next.popLast() {
      for part in targets.first(where: { $0.name == name })?.dependencies ?? []
      where parts.insert(part).inserted {
        next.append(part)
      }
    }
    return parts
  }

  /// The argument texts of each call, up to the parenthesis that closes it.
  private static func calls(of call: String, in code: String) -> [Substring] {
    code.ranges(of: call).compactMap { range in
      // `test(` is also the end of another word.
      if let before = code[..<range.lowerBound].last, before.isLetter || before == "." { return nil }
      var depth = 1
      let end = code[range.upperBound...].firstIndex { character in
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth == 0
      }
      return end.map { code[range.upperBound..<$0] }
    }
  }

  /// The literal that directly follows the label.
  private static func literal(after label: String, in arguments: Substring) -> String? {
    var rest = arguments
    if !label.isEmpty {
      guard let range = arguments.firstRange(of: label) else { return nil }
      rest = arguments[range.upperBound...]
    }
    rest = rest.drop { $0.isWhitespace }
    guard rest.first == "\"" else { return nil }
    return String(rest.dropFirst().prefix { $0 != "\"" })
  }

  private static func list(after label: String, in arguments: Substring) -> Set<String> {
    guard let range = arguments.firstRange(of: label) else { return [] }
    let rest = arguments[range.upperBound...].drop { $0.isWhitespace }
    guard rest.first == "[" else { return [] }
    let parts = rest.prefix { $0 != "]" }.split(separator: "\"", omittingEmptySubsequences: false)
    return Set(parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) })
  }
}

extension Manifest {
  /// Dependencies that are imported and not declared, or declared and not imported.
  func findings(in files: [SourceText]) -> [Finding] {
    // A module's name has no hyphen.
    func module(_ name: String) -> String { String(name.map { $0 == "-" ? "_" : $0 }) }
    let modules = Set(targets.map { module($0.name) })
    return targets.flatMap { target -> [Finding] in
      let own = files.filter { ModuleRules.targetFolder(of: $0.path) == target.folder }
      let used = Set(own.flatMap(\.imports).map(\.module)).intersection(modules)
      let declared = Set(target.dependencies.union(target.labDependencies).map(module))
      return used.subtracting(declared).sorted().map {
        Finding(path: "Package.swift", message: "\(target.name) imports \($0) and does not declare it")
      }
        + declared.subtracting(used).sorted().map {
          Finding(path: "Package.swift", message: "\(target.name) declares \($0) and does not import it")
        }
    }
  }

  /// A target without a folder, or a folder without a target.
  func findings(folders: Set<String>) -> [Finding] {
    let declared = Set(targets.map(\.folder))
    return declared.symmetricDifference(folders).sorted().map {
      Finding(
        path: "Package.swift", message: "\($0) is a target without a folder, or a folder without a target")
    }
  }

  /// A package that embeds this one, as another project would.
  static let embedding = "Tests/Embedding/"
  /// Apps that embed this package, as their developers would write them; each is a package of its own.
  static let examples = "Tests/Examples/"
  /// Programs that a script compiles with the fuzzer of the toolchain; SwiftPM cannot link them.
  static let fuzzing = "Tests/Fuzz/"
  /// Declarations of Apple's modules, and an app; a script type-checks them, SwiftPM cannot.
  static let interfaces = "Tests/AppleInterfaces/"
  /// Checks by Apple's server library, in Python; a script installs it and runs them.
  static let judges = "Tests/Apple/"
  /// A tool in Python that makes mutants of the decision code.
  static let mutants = "Tests/Mutants/"
  /// The only allowed dependency on a package: that of an embedding package on this one.
  private static func allowed(in path: String) -> String? {
    if path == embedding + "Package.swift" { return ".package(name: \"purchase-sync\", path: \"../..\")" }
    guard path.hasPrefix(examples), path.split(separator: "/").count == 4 else { return nil }
    return ".package(name: \"purchase-sync\", path: \"../../..\")"
  }

  /// Dependencies on other packages.
  static func packageDependencies(in text: String, path: String = "Package.swift") -> [Finding] {
    let raw = text.split(separator: "\n", omittingEmptySubsequences: false)
    return SourceText(path: path, text).lines(with: ".package(").compactMap { line in
      let isAllowed = allowed(in: path).map { calls(in: raw[line - 1]) == [$0] } ?? false
      return isAllowed ? nil : Finding(path: path, line: line, message: "the package depends on no other")
    }
  }

  /// Each `.package(…)` of a line, up to the first parenthesis that closes.
  private static func calls(in line: Substring) -> [String] {
    line.ranges(of: ".package(").map { range in
      let rest = line[range.upperBound...]
      return ".package(" + rest.prefix { $0 != ")" } + ")"
    }
  }
}
