/// The files and folders at the top of the repository.
enum Layout {
  static let required: Set<String> = [
    "Package.swift", "Sources", "Tests", "Simulator", "README.md", "LICENSE",
  ]

  /// Names that are missing, and names that are neither in the list nor dotfiles.
  static func findings(topLevel: Set<String>) -> [Finding] {
    required.subtracting(topLevel).sorted().map { Finding(path: $0, message: "is missing") }
      + topLevel.subtracting(required).filter { !$0.hasPrefix(".") }.sorted().map {
        Finding(path: $0, message: "does not belong at the top of the repository")
      }
  }
}
