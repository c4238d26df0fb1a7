/// All keys of `KEY=VALUE`; JournalFormat.swift and MessageCodec.swift have the keys of each line.
public enum Key: UInt8, CaseIterable, Sendable {
  // The end of an attempt
  case exit, signal, reason, errno
  /// Microseconds.
  case wall, user, sys
  /// KiB.
  case rss
  /// Bytes.
  case out
  case detail, left

  // The result of a download
  case from, size, gained, after, kept, sha256, sha512, source, etag, date, url

  // A transition
  case session, attempt, worker, ahead, allowed, delay, fingerprint, culprit, part, with, values
  case origin, late, restored, pids

  // The run
  case format, run, plan, version, manifest, folder, state, set, tasks, args, only, skip, env, file
  case reused, retracted, removed, dropped, code
  case capacity, failures, trace, on, around, serve, name, continues

  // A control request
  case id, verb, by, uid, value, resource, expects, back, among, count, copy, segment

  // A worker
  case pid, start, boot, group
  case cores, memory, actions, host

  // A node
  case node, gpus, incarnation, lease, until
  case time, job, step

  /// Transparent, so that the switch folds for constants; the compiler rarely inlines such a large
  /// one.
  @_transparent
  public var name: StaticString {
    switch self {
    case .exit: "exit"
    case .signal: "signal"
    case .reason: "reason"
    case .errno: "errno"
    case .wall: "wall"
    case .user: "user"
    case .sys: "sys"
    case .rss: "rss"
    case .out: "out"
    case .detail: "what"
    case .left: "left"
    case .from: "from"
    case .size: "size"
    case .gained: "gained"
    case .after: "after"
    case .kept: "kept"
    case .sha256: "sha256"
    case .sha512: "sha512"
    case .source: "source"
    case .etag: "etag"
    case .date: "date"
    case .url: "url"
    case .session: "d"
    case .attempt: "n"
    case .worker: "w"
    case .ahead: "ahead"
    case .allowed: "allowed"
    case .delay: "delay"
    case .fingerprint: "fp"
    case .culprit: "of"
    case .part: "part"
    case .with: "with"
    case .values: "values"
    case .origin: "origin"
    case .late: "late"
    case .restored: "restored"
    case .pids: "pids"
    case .format: "format"
    case .run: "run"
    case .plan: "plan"
    case .version: "version"
    case .manifest: "manifest"
    case .folder: "folder"
    case .state: "state"
    case .set: "set"
    case .tasks: "tasks"
    case .args: "args"
    case .only: "only"
    case .skip: "skip"
    case .env: "env"
    case .file: "file"
    case .reused: "reused"
    case .retracted: "withdrawn"
    case .removed: "removed"
    case .dropped: "dropped"
    case .code: "code"
    case .id: "id"
    case .verb: "verb"
    case .by: "by"
    case .uid: "uid"
    case .value: "value"
    case .resource: "resource"
    case .expects: "expects"
    case .back: "back"
    case .among: "among"
    case .count: "count"
    case .copy: "copy"
    case .segment: "segment"
    case .capacity: "capacity"
    case .failures: "failures"
    case .trace: "trace"
    case .around: "around"
    case .serve: "serve"
    case .name: "name"
    case .continues: "continues"
    case .on: "on"
    case .pid: "pid"
    case .start: "start"
    case .boot: "boot"
    case .group: "group"
    case .cores: "cores"
    case .memory: "memory"
    case .actions: "actions"
    case .host: "host"
    case .node: "site"
    case .gpus: "gpus"
    case .incarnation: "incarnation"
    case .lease: "lease"
    case .until: "until"
    case .time: "time"
    case .job: "job"
    case .step: "step"
    }
  }

  public init?(name: UnsafeRawBufferPointer) {
    guard name.count < Self.byLength.count,
      let key = Self.byLength[name.count].first(where: { name.equals($0.name) })
    else { return nil }
    self = key
  }

  private static let byLength: [[Key]] = allCases.reduce(into: []) { keys, key in
    let length = key.name.utf8CodeUnitCount
    while keys.count <= length { keys.append([]) }
    keys[length].append(key)
  }

  /// The type of the value in JSON output.
  public enum Shape { case number, text, texts }

  public var shape: Shape {
    switch self {
    case .exit, .signal, .errno, .wall, .user, .sys, .rss, .out, .from, .size, .gained, .after,
      .session, .attempt, .worker, .ahead, .allowed, .delay, .format, .reused, .retracted, .code,
      .failures, .pid, .start, .cores, .memory, .uid, .value, .expects, .count, .late, .restored,
      .node, .gpus, .lease, .until, .time, .serve, .continues:
      .number
    case .set, .tasks, .args, .only, .skip, .env, .file, .removed, .dropped, .capacity, .on, .back:
      .texts
    case .reason, .detail, .left, .kept, .sha256, .sha512, .source, .etag, .date, .url,
      .fingerprint,
      .culprit, .part, .with, .values, .origin, .pids, .run, .plan, .version, .manifest, .folder,
      .state,
      .boot,
      .group, .actions, .host, .incarnation, .id, .verb, .by, .resource, .among, .trace, .job,
      .step, .around, .name, .copy, .segment:
      .text
    }
  }
}
