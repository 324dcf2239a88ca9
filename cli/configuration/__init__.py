"""The commands' options, and the files that set them; the command line wins."""
