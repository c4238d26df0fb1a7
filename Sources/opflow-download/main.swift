import OpflowSystem

ProcessID.exitNow(DownloadMain.run(arguments: Array(CommandLine.arguments.dropFirst())))
