/// The version of this package, for an app's logs and for support. All of its products have the same.
public enum PackageVersion {
  /// By the rules of semantic versioning, such as "1.0.0-beta". The only place in the code; the changelog's newest entry
  /// has the same, and the version's tag in git is it.
  public static let current = "1.0.0-beta"
}
