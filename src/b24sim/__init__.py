"""b24sim: a Bitrix24 portal that never existed, over HTTP."""

__version__ = "0.1.0"
