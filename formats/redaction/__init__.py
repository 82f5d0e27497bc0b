"""Names taken out of snapshots: stable tokens under a secret key; standard library only, Python 3.9.

`rules` is the one table of what each text is; docs/privacy.md says what is removed and what is not.
"""

from mmpscope.formats.redaction.keys import KEEP_IT, keep_apart, load_key, make_key
from mmpscope.formats.redaction.redactor import Redactor

__all__ = ["KEEP_IT", "Redactor", "keep_apart", "load_key", "make_key"]
