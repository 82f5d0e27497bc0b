"""Jobs: what limits the memory of a group of processes, as far as Windows lets us see it."""

from __future__ import annotations

from ctypes import byref, c_int32, c_uint32, c_void_p, sizeof

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_dict

__all__ = ["JobCalls"]

_EXTENDED_LIMITS = 9


class JobCalls(Calls):
    """Calls about job objects."""

    def is_in_job(self, process: int) -> bool:
        """Tell if a process belongs to any job."""
        answer = c_int32()
        self._call("IsProcessInJob", c_void_p(process), None, byref(answer))
        return bool(answer.value)

    def get_own_job_limits(self) -> dict[str, int]:
        """Give JOBOBJECT_EXTENDED_LIMIT_INFORMATION of the job that we ourselves are in, by field.

        LimitFlags tells which of the limits hold. There is no way from another process to its job.
        """
        found = sdk.JOBOBJECT_EXTENDED_LIMIT_INFORMATION()
        self._call(
            "QueryInformationJobObject",
            None,
            c_int32(_EXTENDED_LIMITS),
            byref(found),
            c_uint32(sizeof(found)),
            None,
        )
        known = to_dict(found)
        del known["IoInfo"]
        return known
