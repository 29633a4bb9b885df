/*
 * Go asks Windows for random bytes by ProcessPrng of bcryptprimitives.dll, which Wine 8 lacks. This one takes them from
 * RtlGenRandom, which advapi32.dll exports as SystemFunction036.
 */
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size)
{
    while (size > 0) {
        ULONG part = size > 1 << 20 ? 1 << 20 : (ULONG)size;

        if (!SystemFunction036(buffer, part))
            return FALSE;
        buffer += part;
        size -= part;
    }
    return TRUE;
}
