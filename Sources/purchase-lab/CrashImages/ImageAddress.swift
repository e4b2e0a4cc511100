import CommandLineTools
import FaultInjection

/// The argument of `crash-images --replay`: one image, or one run with a fault.
///
/// An image's address is `WORKLOAD@PLACE/FATES` (`CrashState`), with a control before a colon; a fault's is
/// `WORKLOAD!KIND` and the number of the operation that fails, with `-on` if all behind it fail too.
enum ImageAddress: Equatable {
  case image(ImageWorkload, ImageDiscipline, place: Int, CrashState)
  case fault(ImageWorkload, DiskFault)

  static func parse(_ text: String) throws(UsageError) -> ImageAddress {
    guard let mark = text.firstIndex(where: { $0 == "@" || $0 == "!" }) else { throw unreadable(text) }
    let (head, rest) = (text[..<mark], text[text.index(after: mark)...])
    guard text[mark] == "@" else {
      guard let fault = fault(rest) else { throw unreadable(text) }
      return .fault(try ImageWorkload.named(String(head)), fault)
    }
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let place = Int(parts[0]), let state = CrashState(text: String(parts[1])) else {
      throw unreadable(text)
    }
    let names = head.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let discipline = names.count == 2 ? try control(names[0]) : .production
    return .image(try ImageWorkload.named(names[names.count - 1]), discipline, place: place, state)
  }

  private static func unreadable(_ text: String) -> UsageError {
    UsageError(
      message:
        "--replay takes what crash-images prints, such as 'enqueue@12/+-' or 'settle!full-on1', not '\(text)'"
    )
  }

  private static func control(_ name: String) throws(UsageError) -> ImageDiscipline {
    let names = ImageDiscipline.allCases.filter { $0 != .production }.map(\.rawValue)
    guard names.contains(name), let control = ImageDiscipline(rawValue: name) else {
      throw UsageError(
        message: "there is no control '\(name)': there are \(names.joined(separator: ", "))")
    }
    return control
  }

  private static func fault(_ text: Substring) -> DiskFault? {
    for kind in DiskFault.Kind.allCases {
      for (mark, lasts) in [("-on", true), ("", false)] {
        let prefix = kind.rawValue + mark
        guard text.hasPrefix(prefix), let ordinal = Int(text.dropFirst(prefix.count)) else { continue }
        return DiskFault(kind, at: ordinal, lasts: lasts)
      }
    }
    return nil
  }
}

extension ImageWorkload {
  static func named(_ name: String) throws(UsageError) -> ImageWorkload {
    if let workload = ImageWorkload(name: name) { return workload }
    let words = name.split(separator: ",").map(String.init)
    let stranger = words.first { ImageKind(rawValue: $0) == nil }
    let late = words.dropFirst().first { ImageKind(rawValue: $0).map(ImageKind.beginnings.contains) ?? false }
    let why =
      stranger.map { Nearest.name(to: $0, in: ImageKind.allCases.map(\.rawValue)) }
      ?? late.map { ": \($0) can only come first" } ?? ""
    throw UsageError(message: "there is no workload '\(name)'\(why)")
  }
}
