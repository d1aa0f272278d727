"""What holds the GPU's memory, when, and why it runs out."""
