import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// What is on the disk before a workload begins.
enum ImagePreparation {
  /// A site whose next operation is that of the workload; its disk keeps a log of everything since `start`.
  static func site(
    for first: ImageKind, discipline: ImageDiscipline, seed: UInt64,
    committed: ((SyncFile) throws(QueueError) -> Void)? = nil
  ) throws -> (site: ImageSite, start: DiskImage) {
    if first == .create { return (fresh(DiskImage(), discipline, seed), DiskImage()) }
    if first == .migrate { return try migrating(discipline, seed) }
    let site = fresh(DiskImage(), discipline, seed)
    site.committed = committed
    // An order, and one for each of the first payments; then one of every kind of entry.
    let kinds: [ImageKind] = [
      .order, .order, .order, .order, .enqueue, .settle, .enqueue, .quarantine, .enqueue,
    ]
    for kind in kinds { try site.run(kind) }
    guard ImageKind.beginnings.contains(first) else { return (site, DiskImage()) }
    site.close()
    var image = site.disk.image.withoutUnnamedFiles
    if first == .reinstall {
      image.names = [:]
      image.files = [:]
    } else {
      try damage(&image)
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

  /// A page in the midst of the file is noise, and the mark says that somebody met it.
  private static func damage(_ image: inout DiskImage) throws {
    guard let number = image.names[ImageSite.path], let content = image.files[number] else { return }
    var bytes = content.bytes
    // A page of a proof: what stands in it is lost, and nothing else.
    guard let page = (1..<bytes.count / 1024).last(where: { bytes[$0 * 1024] == 13 }) else { return }
    for index in page * 1024..<(page + 1) * 1024 { bytes[index] = 0xA5 }
    image.files[number] = FileContent(bytes)
    let mark = (image.files.keys.max() ?? 0) + 1
    image.files[mark] = FileContent()
    image.names[ImageSite.path + "-damage"] = mark
  }

  private static func migrating(
    _ discipline: ImageDiscipline, _ seed: UInt64
  ) throws -> (site: ImageSite, start: DiskImage) {
    let old = fresh(DiskImage(), discipline, seed)
    old.world.paid = try VersionOneQueue.make(at: ImageSite.path)
    old.world.transactions = old.world.paid.count
    old.world.granted = VersionOneQueue.settled
    old.world.finished = VersionOneQueue.finished
    old.world.orders = VersionOneQueue.orders
    let image = old.disk.image.withoutUnnamedFiles
    let site = ImageSite(disk: FaultDisk(image, keepsLog: true), after: old)
    FaultVFS.begin(on: site.disk, seed: seed)
    return (site, image)
  }
}
