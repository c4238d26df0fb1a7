/// Rarely used tables are made on demand.
final class SchemaTables {
  let manifest = KeyTable<ManifestKey>(.manifest, "the manifest")
  let task = KeyTable<TaskKey>(.task, "a task")
  let defaults = KeyTable(.defaults, "`defaults`", TaskKey.ofDefaults)
  private(set) lazy var retry = KeyTable<RetryKey>(.retry, "`retry`")
  private(set) lazy var stop = KeyTable<StopKey>(.stop, "`stop`")
  private(set) lazy var cache = KeyTable<CacheKey>(.cache, "`cache`")
  private(set) lazy var service = KeyTable<ServiceKey>(.service, "`service`")
  private(set) lazy var ready = KeyTable<ReadyKey>(.ready, "`ready`")
  private(set) lazy var need = KeyTable<NeedKey>(.need, "an item of `needs`")
  private(set) lazy var include = KeyTable<IncludeKey>(.include, "an item of `include`")
  private(set) lazy var download = KeyTable<DownloadKey>(.download, "`download`")
  private(set) lazy var secret = KeyTable<SecretKey>(.secret, "a secret")
  private(set) lazy var input = KeyTable<InputKey>(.input, "an item of `inputs`")
  private(set) lazy var axis = KeyTable(.axis, "an axis of a `matrix`", AxisKey.ofAxes)
  private(set) lazy var rows = KeyTable(.rows, "`rows`", AxisKey.ofRows)
}
