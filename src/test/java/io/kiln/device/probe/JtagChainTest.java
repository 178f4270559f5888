// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.device.probe.JtagChain.TapState;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import org.junit.jupiter.api.Test;

/** The chain as a probe sees it: only by its pins. */
class JtagChainTest {
    private static final int CORE = 0x4ba00477;
    private static final int BOUNDARY_SCAN = 0x06413041;

    private final JtagChain chain = new Stm32f405(new byte[FlashContent.SIZE], Faults.none()).chain();

    @Test
    void fiveOnesLeadToResetFromEverywhere() {
        for (TapState state : TapState.values()) {
            TapState end = state;
            for (int i = 0; i < 5; i++) {
                end = end.next(true);
            }
            assertThat(end).isEqualTo(TapState.TEST_LOGIC_RESET);
        }
    }

    @Test
    void aWalkThroughBothColumnsComesBackToIdle() {
        assertThat(walk("0 1 0 0 1 0 1 0 1 1 0")).isEqualTo(TapState.RUN_TEST_IDLE);
        assertThat(walk("1 1 0 0 1 0 0 1 1")).isEqualTo(TapState.UPDATE_IR);
        assertThat(walk("1 0 1 0 1 0")).isEqualTo(TapState.SHIFT_DR);
    }

    @Test
    void afterResetBothIdentificationsComeOutTheCoreFirst() {
        walk("1 1 1 1 1 0 1 0 0");
        assertThat((int) shift(32, 0)).isEqualTo(CORE);
        assertThat((int) shift(32, 0)).isEqualTo(BOUNDARY_SCAN);
    }

    @Test
    void instructionsCaptureOneAndBypassIsOneBit() {
        walk("1 1 1 1 1 0 1 1 0 0");
        assertThat(shift(9, 0x1ff)).isEqualTo(0b00001_0001);
        walk("1 1 1 0 0");
        assertThat(shift(10, 0x155)).isEqualTo(0x155 << 2 & 0x3ff);
    }

    @Test
    void onlyRisingEdgesCount() {
        chain.reset();
        chain.drive(false, false, 0);
        chain.drive(true, false, 0);
        chain.drive(true, true, 0);
        assertThat(chain.state()).isEqualTo(TapState.RUN_TEST_IDLE);
    }

    @Test
    void theDebugPortPowersUpAndReadsTheBusAndRemembersErrors() {
        walk("1 1 1 1 1 0");
        instruction(0xa);
        access(false, 1, 0x50000000);
        access(true, 1, 0);
        assertThat(access(true, 3, 0)).isEqualTo(0xf0000000);
        access(false, 2, 0);
        instruction(0xb);
        access(false, 0, 0x22000012);
        access(false, 1, 0xe0042000);
        access(true, 3, 0);
        instruction(0xa);
        assertThat(access(true, 3, 0)).isEqualTo(0x10076413);
        instruction(0xb);
        access(false, 1, 0x70000000);
        access(true, 3, 0);
        instruction(0xa);
        access(true, 1, 0);
        assertThat(access(false, 1, 0x50000020) & 1 << 5).isEqualTo(1 << 5);
        access(true, 1, 0);
        assertThat(access(true, 3, 0) & 1 << 5).isZero();
    }

    @Test
    void contentsAreWhole() {
        assertThat(VirtualChip.erased().flash()).isEqualTo(FlashContent.erased());
        assertThat(FlashContent.erased().start(2)).isEqualTo(Bytes.copyOf(new byte[] {-1, -1}));
    }

    /** Selects a register of the debug port and BYPASS of the other device; idle before and after. */
    private void instruction(int code) {
        walkOn("1 1 0 0");
        scan(9, 0x1f0 | code);
    }

    /** One transaction; returns the result of the one before. */
    private int access(boolean read, int register, int data) {
        walkOn("1 0 0");
        long out = scan(36, (data & 0xffffffffL) << 3 | (long) register << 1 | (read ? 1 : 0));
        assertThat(out & 7).isEqualTo(2);
        return (int) (out >>> 3);
    }

    /** Clocks from reset; the last word of TMS levels leads to the state returned. */
    private TapState walk(String levels) {
        if (!levels.startsWith("1 1 1 ")) {
            chain.reset();
            if (levels.startsWith("1")) {
                clock(false, 0);
            }
        }
        return walkOn(levels);
    }

    private TapState walkOn(String levels) {
        for (String level : levels.split(" ", -1)) {
            clock(level.equals("1"), 0);
        }
        return chain.state();
    }

    /** Shifts without leaving the state; the bit of the last clock is still in. */
    private long shift(int bits, long in) {
        long out = 0;
        for (int i = 0; i < bits; i++) {
            out |= (long) chain.tdo() << i;
            clock(false, (int) (in >>> i) & 1);
        }
        return out;
    }

    /** Shifts, the last bit on the way out of the state, and goes on through the update to idle. */
    private long scan(int bits, long in) {
        long out = shift(bits - 1, in);
        out |= (long) chain.tdo() << (bits - 1);
        clock(true, (int) (in >>> (bits - 1)) & 1);
        walkOn("1 0");
        return out;
    }

    private void clock(boolean tms, int tdi) {
        chain.drive(false, tms, tdi);
        chain.drive(true, tms, tdi);
    }
}
