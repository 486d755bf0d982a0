"""The steps of a mini-task: functions from a job to the jobs that follow. They contain no technology."""
