"""The tab in a real Chromium, before a real TensorBoard."""
