// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loads and stores of both widths. Encodings come from the GNU assembler. */
class TransfersTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            ldr r0, .+12 | 4802 | w12=0x12345678 | r0=0x12345678
            str r0, [r1, r2] | 5088 | r0=0x11223344 r1=0x20000100 r2=4 | w260=0x11223344
            strh r0, [r1, r2] | 5288 | r0=0x11223344 r1=0x20000100 r2=2 | w256=0x33440000
            strb r0, [r1, r2] | 5488 | r0=0x11223344 r1=0x20000100 r2=1 | w256=0x4400
            ldrsb r0, [r1, r2] | 5688 | r1=0x20000100 r2=0 w256=0x80 | r0=0xffffff80
            ldr r0, [r1, r2] | 5888 | r1=0x20000100 r2=0 w256=0x80 | r0=0x80
            ldrh r0, [r1, r2] | 5a88 | r1=0x20000100 r2=0 w256=0x12348000 | r0=0x8000
            ldrb r0, [r1, r2] | 5c88 | r1=0x20000100 r2=0 w256=0x1234 | r0=0x34
            ldrsh r0, [r1, r2] | 5e88 | r1=0x20000100 r2=0 w256=0x12348000 | r0=0xffff8000
            str r0, [r1, #8] | 6088 | r0=7 r1=0x200000f8 | w256=7
            ldr r0, [r1, #124] | 6fc8 | r1=0x20000084 w256=9 | r0=9
            strb r0, [r1, #3] | 70c8 | r0=1 r1=0x20000100 | w256=0x1000000
            ldrb r0, [r1, #1] | 7848 | r1=0x20000100 w256=0x500 | r0=5
            strh r0, [r1, #2] | 8048 | r0=1 r1=0x20000100 | w256=0x10000
            ldrh r0, [r1, #2] | 8848 | r1=0x20000100 w256=0x50000 | r0=5
            str r0, [sp, #4] | 9001 | r0=3 sp=0x200000fc | w256=3
            ldr r0, [sp, #4] | 9801 | sp=0x200000fc w256=4 | r0=4
            push {r0, r2, lr} | b505 | r0=1 r2=2 lr=3 sp=0x2000010c | sp=0x20000100 w256=1 w260=2 w264=3
            pop {r0, r2, pc} | bd05 | sp=0x20000100 w256=1 w260=2 w264=0x20000301 | r0=1 r2=2 sp=0x2000010c pc=0x20000300
            stmia r3!, {r0, r1} | c303 | r0=1 r1=2 r3=0x20000100 | r3=0x20000108 w256=1 w260=2
            ldmia r3!, {r0, r1} | cb03 | r3=0x20000100 w256=1 w260=2 | r0=1 r1=2 r3=0x20000108
            ldmia r3, {r0, r3} | cb09 | r3=0x20000100 w256=1 w260=2 | r0=1 r3=2
            ldr.w r0, [r1, #256] | f8d1 0100 | r1=0x20000000 w256=5 | r0=5
            ldr r0, [r1], #4 | f851 0b04 | r1=0x20000100 w256=5 | r0=5 r1=0x20000104
            ldr r0, [r1, #-4]! | f851 0d04 | r1=0x20000104 w256=5 | r0=5 r1=0x20000100
            ldr r0, [r1, #-4] | f851 0c04 | r1=0x20000104 w256=5 | r0=5 r1=0x20000104
            ldr.w r0, [r1, r2, lsl #3] | f851 0032 | r1=0x20000000 r2=32 w256=6 | r0=6
            ldr.w r0, .+12 | f8df 0008 | w12=0x11 | r0=0x11
            ldr.w pc, [r1, #256] | f8d1 f100 | r1=0x20000000 w256=0x20000201 | pc=0x20000200
            ldrb r0, [r1], #1 | f811 0b01 | r1=0x20000101 w256=0x4500 | r0=0x45 r1=0x20000102
            ldrsb.w r0, [r1, #256] | f991 0100 | r1=0x20000000 w256=0x80 | r0=0xffffff80
            ldrh r0, [r1], #2 | f831 0b02 | r1=0x20000102 w256=0x12340000 | r0=0x1234 r1=0x20000104
            ldrsh.w r0, [r1, #256] | f9b1 0100 | r1=0x20000000 w256=0x8000 | r0=0xffff8000
            str.w r8, [r1, #256] | f8c1 8100 | r8=5 r1=0x20000000 | w256=5
            strh r0, [r1], #2 | f821 0b02 | r0=0x12345 r1=0x20000100 | w256=0x2345 r1=0x20000102
            strb r0, [r1], #1 | f801 0b01 | r0=0x12345 r1=0x20000100 | w256=0x45 r1=0x20000101
            pld [r1] | f891 f000 | r1=0x70000000 | pc=0x20000004
            ldrd r0, r4, [r1, #8] | e9d1 0402 | r1=0x200000f8 w256=1 w260=2 | r0=1 r4=2
            strd r0, r4, [r1, #-8]! | e961 0402 | r0=1 r4=2 r1=0x20000108 | r1=0x20000100 w256=1 w260=2
            stmdb r3!, {r0, r8} | e923 0101 | r0=1 r8=2 r3=0x20000108 | r3=0x20000100 w256=1 w260=2
            ldmia.w r3!, {r0, r8} | e8b3 0101 | r3=0x20000100 w256=1 w260=2 | r0=1 r8=2 r3=0x20000108
            tbb [r1, r2] | e8d1 f002 | r1=0x20000100 r2=1 w256=0x600 | pc=0x20000010
            tbh [r1, r2, lsl #1] | e8d1 f012 | r1=0x20000100 r2=1 w256=0x100000 | pc=0x20000024
            """)
    void loadsAndStoresDoAsTheArchitectureSays(String assembly, String code, String before, String after) {
        TestCore core = new TestCore();
        core.load(code);
        core.set(before);
        core.check(assembly, core.step(), after);
    }
}
