"""What a delta pass does not see in several kinds of records."""

from b24migrate.messages import say

# `disk.file.get` returns the version, the records that name a file do not.
UNSEEN_VERSIONS = say("delta.unseen.drive_files")
# Of what is read by time and by new IDs, and counted by ranges of IDs (`engine/phases/count_ranges.py`).
UNSEEN_COUNTED = say("delta.unseen.counted")
