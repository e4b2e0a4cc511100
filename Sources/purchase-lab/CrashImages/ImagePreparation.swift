import FaultInjection
import ProcessFaults
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The disk before a workload begins.
enum ImagePreparation {
  /// A site whose next operation is that of the workload; its disk keeps a log of everything since `start`.
  static func site(
    for first: ImageKind, discipline: ImageDiscipline, seed: UInt64,
    committed: ((SyncFile) throws(QueueError) -> Void)? = nil
  ) throws -> (site: ImageSite, start: DiskImage) {
    if first == .create { return (fresh(DiskImage(), discipline, seed), DiskImage()) }
    let site = fresh(DiskImage(), discipline, seed)
    site.committed = committed
    // An order, and one for each of the first payments; then one of every kind of entry.
    let kinds: [ImageKind] = [
      .order, .order, .order, .order, .enqueue, .settle, .enqueue, .quarantine, .enqueue,
    ]
    for kind in kinds { try site.run(kind) }
    guard ImageKind.beginnings.contains(first) else { return (site, DiskImage()) }
    site.close()
    if first == .migrate { try EarlierFile.rewrite(ImageSite.path) }
    var image = site.disk.image.withoutUnnamedFiles
    switch first {
    case .reinstall: (image.names, image.files) = ([:], [:])
    // A vault would restore the rows that a faulty migration loses.
    case .migrate: image.vault = [:]
    default: try damage(&image)
    }
    let later = ImageSite(disk: FaultDisk(image, keepsLog: true), after: site)
    FaultVFS.begin(on: later.disk, seed: seed)
    return (later, image)
  }

  private static func fresh(_ image: DiskImage, _ discipline: ImageDiscipline, _ seed: UInt64) -> ImageSite {
    let site = ImageSite(disk: FaultDisk(image, keepsLog: true), discipline: discipline)
    FaultVFS.begin(on: site.disk, seed: seed)
    return site
  }

  /// A page in the middle of the file is noise, and the damage mark is set.
  private static func damage(_ image: inout DiskImage) throws {
    guard let number = image.names[ImageSite.path], let content = image.files[number] else { return }
    var bytes = content.bytes
    // A page of a proof: only the bytes of this page are lost.
    guard let page = (1..<bytes.count / 1024).last(where: { bytes[$0 * 1024] == 13 }) else { return }
    for index in page * 1024..<(page + 1) * 1024 { bytes[index] = 0xA5 }
    image.files[number] = FileContent(bytes)
    let mark = (image.files.keys.max() ?? 0) + 1
    image.files[mark] = FileContent()
    image.names[ImageSite.path + "-damage"] = mark
  }
}
