"""The version of the package. The compiled module and the program must have the same."""
VERSION = '0.2.0'
