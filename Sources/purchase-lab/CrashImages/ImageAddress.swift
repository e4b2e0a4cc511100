import CommandLineTools
import FaultInjection

/// The argument of `crash-images --replay`: one image, one run with a fault, or one recovery of an image with a fault.
///
/// An image's address is `WORKLOAD@PLACE/FATES` (`CrashState`), with a control before a colon; a fault's is
/// `WORKLOAD!FAULT` (`DiskFault`), and that of a recovery `WORKLOAD@PLACE/FATES!FAULT`.
enum ImageAddress: Equatable {
  case image(ImageWorkload, ImageDiscipline, place: Int, CrashState)
  case fault(ImageWorkload, DiskFault)
  case recovery(ImageWorkload, place: Int, CrashState, DiskFault)

  static func parse(_ text: String) throws(UsageError) -> ImageAddress {
    let halves = text.split(separator: "!", maxSplits: 1, omittingEmptySubsequences: false)
    let fault = halves.count == 2 ? DiskFault(text: halves[1]) : nil
    guard halves.count == 1 || fault != nil else { throw unreadable(text) }
    guard let mark = halves[0].firstIndex(of: "@") else {
      guard let fault else { throw unreadable(text) }
      return .fault(try ImageWorkload.named(String(halves[0])), fault)
    }
    let (head, rest) = (halves[0][..<mark], halves[0][halves[0].index(after: mark)...])
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let place = Int(parts[0]), let state = CrashState(text: String(parts[1])) else {
      throw unreadable(text)
    }
    let names = head.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let discipline = names.count == 2 ? try control(names[0]) : .production
    let workload = try ImageWorkload.named(names[names.count - 1])
    guard let fault else { return .image(workload, discipline, place: place, state) }
    guard discipline == .production else { throw UsageError(message: "a control has no faults") }
    return .recovery(workload, place: place, state, fault)
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
