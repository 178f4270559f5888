// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.device.probe.thumb.ThumbCore.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThumbCoreTest {
    @Test
    void anItBlockExecutesWhatItsConditionsSayAndSetsNoFlags() {
        TestCore core = new TestCore();
        // ittee eq; moveq r0, #1; addeq r0, #1; movne r1, #2; movne r2, #3; movs r3, #0
        core.load("bf07 2001 3001 2102 2203 2300");
        core.set("z=1 r1=9 r2=9 r3=9");
        for (int i = 0; i < 5; i++) {
            assertThat(core.step()).isEqualTo(Outcome.CONTINUE);
        }
        core.check("block", core.step(), "r0=2 r1=9 r2=9 r3=0 pc=0x2000000c nzcv=0100");
    }

    @Test
    void theStateOfAnItBlockSurvivesInTheProgramStatus() {
        TestCore core = new TestCore();
        // ite ne; movne r0, #1; moveq r0, #2
        core.load("bf14 2001 2002");
        core.set("z=0");
        assertThat(core.step()).isEqualTo(Outcome.CONTINUE);
        int status = core.registers().programStatus();
        core.registers().setProgramStatus(1 << 24);
        core.registers().setProgramStatus(status);
        assertThat(core.step()).isEqualTo(Outcome.CONTINUE);
        core.check("block", core.step(), "r0=1 pc=0x20000006");
    }

    @Test
    void aBreakpointStaysWhereItIs() {
        TestCore core = new TestCore();
        core.load("be00");
        assertThat(core.step()).isEqualTo(Outcome.BREAKPOINT);
        assertThat(core.registers().get(Registers.PC)).isEqualTo(TestCore.BASE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"de00", "df00", "eeb0 0a40", "e851 0f00", "f3ef 8010", "f7f0 a000", "6808"})
    void whatIsUndefinedUnsupportedOrOutOfMemoryFaults(String code) {
        TestCore core = new TestCore();
        core.load(code);
        core.set("r1=0x70000000");
        assertThat(core.step()).isEqualTo(Outcome.FAULT);
        assertThat(core.registers().get(Registers.PC)).isEqualTo(TestCore.BASE);
    }
}
