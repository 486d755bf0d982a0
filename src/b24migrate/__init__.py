"""b24migrate: a Bitrix24 Cloud portal moves to its own box, and every source id is accounted for."""

__version__ = "0.1.0"
