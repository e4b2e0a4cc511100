import Foundation

/// How the allocator of a process that serves for days treats freed memory.
enum ServerMemory {
  /// Lets glibc give the memory of each long body back to the system as soon as it is freed. By default it keeps up to
  /// 64 MiB in each of several arenas once one long body was freed: 60 bodies of 16 MiB left 250 MB behind. Elsewhere
  /// than with glibc nothing happens.
  static func returnLongBlocks() {
    guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "mallopt") else { return }
    typealias SetOption = @convention(c) (CInt, CInt) -> CInt
    let mallopt = unsafe unsafeBitCast(symbol, to: SetOption.self)
    // M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h, which Swift does not import.
    _ = mallopt(-1, 1 << 20)
    _ = mallopt(-3, 256 << 10)
  }
}
