"""The version, read by the build as well: it is compiled into the native core."""

__version__ = "0.1.0"
