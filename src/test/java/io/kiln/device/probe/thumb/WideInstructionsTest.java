// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 32-bit instructions but for loads and stores. Encodings come from the GNU assembler. */
class WideInstructionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            mov.w r0, #0x1fe00 | f44f 30ff |  | r0=0x1fe00
            movs.w r0, #0xff000000 | f05f 407f |  | r0=0xff000000 nzcv=1010
            mov.w r0, #0x00ab00ab | f04f 10ab |  | r0=0x00ab00ab
            mov.w r0, #0xab00ab00 | f04f 20ab |  | r0=0xab00ab00
            mov.w r0, #0xabababab | f04f 30ab |  | r0=0xabababab
            mvn r0, #1 | f06f 0001 |  | r0=0xfffffffe
            and r0, r1, #0xf0 | f001 00f0 | r1=0xff c=1 | r0=0xf0 nzcv=0010
            bics.w r0, r1, #0xf0 | f031 00f0 | r1=0xf0 | r0=0 nzcv=0100
            orr r0, r1, #0x80000000 | f041 4000 | r1=1 | r0=0x80000001
            orn r0, r1, #0 | f061 0000 | r1=1 | r0=0xffffffff
            eor r0, r1, #1 | f081 0001 | r1=3 | r0=2
            tst.w r1, #0x100 | f411 7f80 | r1=0x200 | r1=0x200 nzcv=0100
            teq r1, #4 | f091 0f04 | r1=4 | r1=4 nzcv=0100
            cmp.w r1, #0x100 | f5b1 7f80 | r1=0x100 | r1=0x100 nzcv=0110
            cmn.w r1, #1 | f111 0f01 | r1=0xffffffff | r1=0xffffffff nzcv=0110
            adds.w r8, r1, #0x100 | f511 7880 | r1=1 | r8=0x101 nzcv=0000
            adc r0, r1, #1 | f141 0001 | r1=1 c=1 | r0=3
            sbc r0, r1, #1 | f161 0001 | r1=1 c=0 | r0=0xffffffff
            subs.w r8, r1, #1 | f1b1 0801 | r1=1 | r8=0 nzcv=0110
            rsb r0, r1, #10 | f1c1 000a | r1=3 | r0=7
            add.w r0, r1, r2, lsl #3 | eb01 00c2 | r1=1 r2=2 | r0=17
            sub.w r0, r1, r2, lsr #1 | eba1 0052 | r1=9 r2=4 | r0=7
            eor.w r0, r1, r2, asr #31 | ea81 70e2 | r1=0xf r2=0x80000000 | r0=0xfffffff0
            mov.w r0, r1, rrx | ea4f 0031 | r1=3 c=1 | r0=0x80000001
            movs.w r0, r1, ror #8 | ea5f 2031 | r1=0x80 | r0=0x80000000 nzcv=1010
            movs.w r8, r1, lsl #4 | ea5f 1801 | r1=0x10000001 | r8=0x10 nzcv=0010
            mvn.w r8, r1 | ea6f 0801 | r1=0 | r8=0xffffffff
            addw r0, r1, #0xfff | f601 70ff | r1=1 | r0=0x1000
            subw r0, r1, #0xfff | f6a1 70ff | r1=0x1000 | r0=1
            movw r0, #0xabcd | f64a 30cd |  | r0=0xabcd
            movt r0, #0x1234 | f2c1 2034 | r0=0xffff | r0=0x1234ffff
            ubfx r0, r1, #4, #8 | f3c1 1007 | r1=0xfedcba98 | r0=0xa9
            sbfx r0, r1, #4, #8 | f341 1007 | r1=0xfedcba98 | r0=0xffffffa9
            bfi r0, r1, #8, #4 | f361 200b | r0=0xffffffff r1=0x5 | r0=0xfffff5ff
            bfc r0, #0, #16 | f36f 000f | r0=0xffffffff | r0=0xffff0000
            lsl.w r8, r1, r2 | fa01 f802 | r1=1 r2=31 | r8=0x80000000
            lsrs.w r8, r1, r2 | fa31 f802 | r1=3 r2=1 | r8=1 nzcv=0010
            asr.w r8, r1, r2 | fa41 f802 | r1=0x80000000 r2=40 | r8=0xffffffff
            ror.w r8, r1, r2 | fa61 f802 | r1=0xf r2=4 | r8=0xf0000000
            sxth.w r8, r1, ror #8 | fa0f f891 | r1=0x800000 | r8=0xffff8000
            uxtb.w r8, r1, ror #16 | fa5f f8a1 | r1=0x120000 | r8=0x12
            uxtah r0, r1, r2 | fa11 f082 | r1=1 r2=0x1ffff | r0=0x10000
            sxtab r0, r1, r2 | fa41 f082 | r1=1 r2=0xff | r0=0
            rev.w r8, r1 | fa91 f881 | r1=0x11223344 | r8=0x44332211
            rev16.w r8, r1 | fa91 f891 | r1=0x11223344 | r8=0x22114433
            rbit r0, r1 | fa91 f0a1 | r1=1 | r0=0x80000000
            revsh.w r8, r1 | fa91 f8b1 | r1=0xff | r8=0xffffff00
            clz r0, r1 | fab1 f081 | r1=0x10000 | r0=15
            mul r0, r1, r2 | fb01 f002 | r1=0x10001 r2=0x10000 | r0=0x10000
            mla r0, r1, r2, r3 | fb01 3002 | r1=3 r2=4 r3=5 | r0=17
            mls r0, r1, r2, r3 | fb01 3012 | r1=3 r2=4 r3=5 | r0=0xfffffff9
            smull r0, r3, r1, r2 | fb81 0302 | r1=0xffffffff r2=2 | r0=0xfffffffe r3=0xffffffff
            umull r0, r3, r1, r2 | fba1 0302 | r1=0xffffffff r2=2 | r0=0xfffffffe r3=1
            smlal r0, r3, r1, r2 | fbc1 0302 | r0=3 r3=0 r1=0xffffffff r2=2 | r0=1 r3=0
            umlal r0, r3, r1, r2 | fbe1 0302 | r0=2 r3=0 r1=0xffffffff r2=2 | r0=0 r3=2
            sdiv r0, r1, r2 | fb91 f0f2 | r1=0xfffffff9 r2=2 | r0=0xfffffffd
            udiv r0, r1, r2 | fbb1 f0f2 | r1=0xfffffff9 r2=2 | r0=0x7ffffffc
            sdiv r0, r1, r2 | fb91 f0f2 | r1=5 r2=0 | r0=0
            sdiv r0, r1, r2 | fb91 f0f2 | r1=0x80000000 r2=0xffffffff | r0=0x80000000
            b.w .+0x10000 | f00f bffe |  | pc=0x20010000
            b.w .-0x10000 | f7ef bffe |  | pc=0x1fff0000
            bl .+0x400 | f000 f9fe |  | pc=0x20000400 lr=0x20000005
            bl .-0x400 | f7ff fdfe |  | pc=0x1ffffc00 lr=0x20000005
            beq.w .+0x1000 | f000 87fe | z=1 | pc=0x20001000
            beq.w .+0x1000 | f000 87fe | z=0 | pc=0x20000004
            bne.w .-0x1000 | f47e affe | z=0 | pc=0x1ffff000
            dsb | f3bf 8f4f |  | pc=0x20000004
            isb | f3bf 8f6f |  | pc=0x20000004
            nop.w | f3af 8000 |  | pc=0x20000004
            """)
    void wideInstructionsDoAsTheArchitectureSays(String assembly, String code, String before, String after) {
        TestCore core = new TestCore();
        core.load(code);
        core.set(before);
        core.check(assembly, core.step(), after);
    }
}
