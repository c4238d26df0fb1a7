struct Freed {
  /// The task that the worker no longer has, or `none`.
  var task = TaskID.none
  /// Its resources, unless another task of the worker holds them now.
  var share: Share?
}

struct Loss {
  var complaint: String
  var site: SiteID
  /// Whether it had not said hello, so that nothing was started.
  var wasLaunching: Bool
  /// Whether the run goes on without a replacement, and the node is not blamed.
  var isSpared: Bool
  /// There was no process for it, and its kind waits for one.
  var waits = false
  /// It was the last of too many that did not come up there: no more are launched.
  var isLastTry = false
  /// The task that it ran or was launched for.
  var current: TaskID
  /// The prefetched tasks, in order.
  var ahead: [TaskID]
  var share: Share?
}
