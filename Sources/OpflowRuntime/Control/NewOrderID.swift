package import OpflowPlan
internal import OpflowSystem

extension OrderID {
  package static func new() -> OrderID {
    let text = "\(ProcessID.own).\(Clock.monotonicNanoseconds).\(UInt32.random(in: .min ... .max))"
    guard let id = OrderID(text) else { preconditionFailure("an order's id is none: \(text)") }
    return id
  }
}
