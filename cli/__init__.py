"""`foldwise COMMAND`: a file for each command, the options they share, and the only `print` of the project.

A command is a frozen dataclass, whose fields are its options, and a function of it; `main` lists them all. What a command
needs beyond that it imports when it runs, so that `--help` is quick.
"""
