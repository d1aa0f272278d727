"""How many samples and tokens a program works on, as far as the shapes of its first layer tell."""
