"""What a mini-task does, step by step: functions from a job to the jobs that follow. Knows no technology."""
