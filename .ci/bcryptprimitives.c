// What Go's runtime wants of bcryptprimitives.dll, which Wine 8 lacks: random bytes, from advapi32.
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(PVOID, ULONG); // RtlGenRandom

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T length) {
	for (; length > 0x40000000; to += 0x40000000, length -= 0x40000000)
		if (!SystemFunction036(to, 0x40000000))
			return FALSE;
	return SystemFunction036(to, (ULONG)length);
}
