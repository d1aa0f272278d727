"""Tests of the timeline: tracks, their windows and traces."""
