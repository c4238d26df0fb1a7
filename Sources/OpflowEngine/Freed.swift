internal import OpflowPlan

struct Freed {
  /// Or `none`.
  var task = TaskID.none
  /// Its resources, unless another task of the worker holds them now.
  var share: Share?
}

struct Loss {
  var complaint: String
  var site: SiteID
  /// It had not said hello: nothing was started.
  var wasLaunching: Bool
  /// It is not replaced, and the node is not blamed.
  var isSpared: Bool
  /// No process could be created, and its kind waits for one.
  var waits = false
  /// Too many in a row did not come up there.
  var isLastTry = false
  /// The running task, or the one that it was launched for.
  var current: TaskID
  /// In order.
  var ahead: [TaskID]
  var share: Share?
}
