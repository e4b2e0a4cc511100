/// Where an order is made.
public enum OrderPolicy: Sendable, Hashable {
  /// The backend makes each order: nothing can be bought without it. The default, because a backend can then refuse a
  /// sale before the payment.
  case backendOnly
  /// The backend is asked first. If it does not answer within this time, the device makes the order, and registers it
  /// with the upload or as soon as the backend is back. A backend that refuses is obeyed.
  case backendFirst(timeLimit: Duration)
  /// The device makes each order, and registers it later.
  case deviceOnly
}
