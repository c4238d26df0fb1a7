// The commands of scripts/stress, which run the tests' code for a long time.

import Glibc

let arguments = CommandLine.arguments.dropFirst()
var code: Int32 = 2
switch arguments.first {
case "simulate": code = SimulateCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "faults": code = FaultsCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "journal": code = JournalCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "build": code = BuildCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "requests": code = RequestsCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "grow": code = GrowCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "hosts": code = HostsCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "fresh": code = FreshCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "together": code = TogetherCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "latency": code = LatencyCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "kill": code = KillCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "secrets": code = SecretsCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "services": code = ServicesCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "growth":
  if var command = GrowthCommand(Array(arguments.dropFirst())) { code = command.run() }
case "download": code = DownloadCommand(Array(arguments.dropFirst()))?.run() ?? 2
case "scheduler": code = SchedulerCommand(Array(arguments.dropFirst()))?.run() ?? 2
default: break
}
if code == 2 {
  print("usage: stress simulate COUNT [--from SEED] | stress simulate --seed SEED")
  print("       stress kill PROGRAM COUNT SEED FOLDER")
  print("       stress requests PROGRAM COUNT SEED FOLDER")
  print("       stress grow PROGRAM COUNT SEED FOLDER")
  print("       stress growth COUNT SEED")
  print("       stress hosts HOST COUNT SEED FOLDER")
  print("       stress fresh PROGRAM COUNT SEED FOLDER")
  print("       stress secrets PROGRAM COUNT SEED FOLDER")
  print("       stress together PROGRAM COUNT SEED FOLDER")
  print("       stress services PROGRAM COUNT SEED FOLDER JOBS")
  print("       stress latency PROGRAM COUNT FOLDER")
  print("       stress download PROGRAM COUNT SEED FOLDER")
  print("       stress build PROGRAM INJECTOR COUNT SEED FOLDER")
  print("       stress faults PROGRAM INJECTOR FOLDER PART PARTS [WORD]")
  print("       stress faults PROGRAM INJECTOR FOLDER SCENE FAULT")
  print("       stress scheduler COUNT [PARALLEL]")
  print("       stress journal append|replay COUNT FILE")
}
exit(code)
