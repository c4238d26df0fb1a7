import Glibc

/// The cost of a stretch of work for this process (getrusage(2), clock_gettime(2)).
struct Cost {
  var cpuMicroseconds: Int
  var wallMicroseconds: Int

  static var now: Cost {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    return Cost(
      cpuMicroseconds: seconds * 1_000_000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
      wallMicroseconds: time.tv_sec * 1_000_000 + time.tv_nsec / 1000)
  }

  static var peakKibibytes: Int {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss
  }

  static func - (end: Cost, start: Cost) -> Cost {
    Cost(
      cpuMicroseconds: end.cpuMicroseconds - start.cpuMicroseconds,
      wallMicroseconds: end.wallMicroseconds - start.wallMicroseconds)
  }
}
