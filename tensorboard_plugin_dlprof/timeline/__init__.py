"""The tracks of the timeline: what happened when, on each stream and each host thread, with levels of detail."""
