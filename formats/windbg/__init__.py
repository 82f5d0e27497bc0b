"""Text of !address and !maddress in WinDbg."""
