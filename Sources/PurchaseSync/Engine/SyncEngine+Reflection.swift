extension SyncEngine: CustomReflectable {
  /// The path of the file alone: the engine holds tokens.
  public nonisolated var customMirror: Mirror { Mirror(self, children: ["path": configuration.path]) }
}

extension Shop: CustomReflectable {
  /// The path of the file alone: the shop's engine holds tokens.
  public nonisolated var customMirror: Mirror { Mirror(self, children: ["path": configuration.path]) }
}
