/// The tables of keys; rarely used ones are made on demand.
final class SchemaTables {
  let manifest = KeyTable<ManifestKey>()
  let task = KeyTable<TaskKey>()
  let defaults = KeyTable(TaskKey.ofDefaults)
  private(set) lazy var retry = KeyTable<RetryKey>()
  private(set) lazy var stop = KeyTable<StopKey>()
  private(set) lazy var cache = KeyTable<CacheKey>()
  private(set) lazy var service = KeyTable<ServiceKey>()
  private(set) lazy var ready = KeyTable<ReadyKey>()
  private(set) lazy var need = KeyTable<NeedKey>()
  private(set) lazy var include = KeyTable<IncludeKey>()
  private(set) lazy var download = KeyTable<DownloadKey>()
  private(set) lazy var secret = KeyTable<SecretKey>()
  private(set) lazy var input = KeyTable<InputKey>()
  private(set) lazy var axis = KeyTable(AxisKey.ofAxes)
  private(set) lazy var rows = KeyTable(AxisKey.ofRows)
}
